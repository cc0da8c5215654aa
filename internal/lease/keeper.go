package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	mathrand "math/rand/v2"

	"pgflurry/internal/connect"
	"pgflurry/internal/logs"
)

// Issuer is the generator, as a keeper sees it.
type Issuer interface {
	// Grant replaces the grant: IDs of worker with a tick in [from, until) may be issued from now on, no others.
	Grant(worker int, from, until int64) error
	// Revoke takes the grant back: when it has returned, no draw begins until the next Grant.
	Revoke()
	// Seal ends issuing: when it has returned, no ID is issued ever again.
	Seal()
}

// Settings of a Keeper.
type Settings struct {
	Namespace string // UUID that the database must have, as PostgreSQL writes it
	Store     Store  // closed when Run returns
	Issuer    Issuer // sealed when Run returns
	Clock     *Clock // shared with the issuer; only the keeper observes

	Node    string // name of this node, 1 to 255 characters, the same after a restart
	Address string // for people, at most 255 characters
	Version string // for people, at most 255 characters

	Range Range // which workers may be held: those of a datacenter; zero: all

	// how far ahead to reserve, so how long the database may be away; default 60 s; at most the namespace's max_window
	Window time.Duration
	// the window right after an acquisition, which each renewal doubles; default 5 s, at most Window
	FirstWindow time.Duration

	// Suspicion renews a held lease at once, but not more often than once a second. Pass the one of the Store's
	// connections, which makes them old. Default: none.
	Suspicion *connect.Suspicion

	Log    *slog.Logger   // default: discards
	Jitter func() float64 // in [0, 1); default: random
	// Wait returns after a time, when the context ends, or when the channel is closed. It says whether the channel was.
	// Default: connect.Sleep.
	Wait func(context.Context, time.Duration, <-chan struct{}) bool

	Without string // what calls do while there is no grant, for the log, such as "go to PostgreSQL"
}

const (
	defaultWindow      = 60 * time.Second
	defaultFirstWindow = 5 * time.Second
	shortestWindow     = 500 * time.Millisecond
	// lastAcquisition is how long an acquisition may continue after shutdown begins. If it took a worker and its answer
	// were lost, that worker would rest for the quarantine.
	lastAcquisition = 2 * time.Second
	// slowAnswer is the longest that an answer may take whose time is the first of the clock. IDs would be as far
	// behind the database's clock until the next renewal.
	slowAnswer   = time.Second
	releaseLimit = 3 * time.Second
)

// Keeper holds one worker for one process: it acquires, renews, and acquires again.
type Keeper struct {
	store     Store
	issuer    Issuer
	clock     *Clock
	suspicion *connect.Suspicion
	log       *slog.Logger
	wait      func(context.Context, time.Duration, <-chan struct{}) bool
	without   string
	protocol  protocol

	issued      atomic.Pointer[issued] // never nil; only the keeper's goroutine writes it
	granted     chan struct{}          // closed with the first grant
	grantedOnce sync.Once

	cause   string        // the last failure; empty while all is well
	failing logs.Reminder // of failures
	ahead   logs.Reminder // of IDs that are far ahead of the database's clock
	ended   bool          // whether the end of the grant was logged

	ungranted bool    // a worker was acquired, and the issuer has not had it yet
	ungated   bool    // whether the lack of a gate was logged
	record    *record // of Stats
}

// issued is what the issuer has: its present grant, or the last one. It outlives a lost lease, because the issuer may
// finish it. Before the first grant, and after a revoke, it is zero. No other value of this package knows it.
type issued struct {
	Grant
	term int64 // of the lease that it is from
}

// NewKeeper checks the settings. Nothing happens before Run.
func NewKeeper(s Settings) (*Keeper, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	k := &Keeper{
		store: s.Store, issuer: s.Issuer, clock: s.Clock, suspicion: s.Suspicion, log: s.Log, wait: s.Wait,
		without: s.Without, granted: make(chan struct{}), record: newRecord(),
		failing: logs.Reminder{Every: logs.RemindEvery}, ahead: logs.Reminder{Every: logs.RemindEvery},
		protocol: protocol{
			namespace: s.Namespace, node: s.Node, address: s.Address, version: s.Version, workers: s.Range,
			first: s.Clock.ticks(s.FirstWindow), window: s.Clock.ticks(s.Window),
			length: s.Clock.duration, newOwner: newOwner, jitter: s.Jitter,
		},
	}
	k.issued.Store(new(issued))
	return k, nil
}

func (s Settings) withDefaults() Settings {
	if s.Window == 0 {
		s.Window = defaultWindow
	}
	if s.FirstWindow == 0 {
		s.FirstWindow = min(defaultFirstWindow, s.Window)
	}
	if s.Suspicion == nil {
		s.Suspicion = new(connect.Suspicion)
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Wait == nil {
		s.Wait = connect.Sleep
	}
	if s.Jitter == nil {
		s.Jitter = mathrand.Float64
	}
	return s
}

func (s Settings) check() error {
	switch {
	case s.Store == nil || s.Issuer == nil || s.Clock == nil:
		return errors.New("a keeper needs a store, an issuer and a clock")
	case s.Namespace == "":
		return errors.New("a keeper needs the namespace's id")
	case utf8.RuneCountInString(s.Node) < 1 || utf8.RuneCountInString(s.Node) > 255:
		return fmt.Errorf("node name %q has %d characters; 1 to 255 are allowed",
			s.Node, utf8.RuneCountInString(s.Node))
	case utf8.RuneCountInString(s.Address) > 255 || utf8.RuneCountInString(s.Version) > 255:
		return fmt.Errorf("address %q or version %q is longer than 255 characters", s.Address, s.Version)
	case s.Range.Lowest < 0 || s.Range.Highest < s.Range.Lowest:
		return fmt.Errorf("workers from %d to %d: the lowest must not be negative, nor above the highest",
			s.Range.Lowest, s.Range.Highest)
	case s.FirstWindow < shortestWindow || s.Clock.ticks(s.FirstWindow) < 1:
		return fmt.Errorf("first window %v is too short: at least %v and one tick of %v",
			s.FirstWindow, shortestWindow, s.Clock.duration(1))
	case s.FirstWindow > s.Window:
		return fmt.Errorf("first window %v is longer than window %v", s.FirstWindow, s.Window)
	}
	return nil
}

// Granted is closed when the first grant has been handed to the issuer.
func (k *Keeper) Granted() <-chan struct{} { return k.granted }

// Run keeps the issuer supplied until ctx ends, whatever the database does meanwhile. Then it seals the issuer,
// releases the worker and returns nil. It returns an error only if no later attempt could succeed: a grant that the
// issuer refuses, or before the first grant ErrNamespaceMismatch or ErrElsewhere. The issuer is sealed then, too.
//
// Call Run once. End ctx only when no caller needs IDs any more.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.store.Close()
	err := k.keep(ctx)
	k.record.end()
	if !wrongDatabase(err) {
		k.release(context.WithoutCancel(ctx))
	}
	return err
}

// keep is the keeper's loop: wait or make an attempt, until ctx ends or an error is final. It always seals the issuer,
// even after a panic.
func (k *Keeper) keep(ctx context.Context) error {
	defer k.issuer.Seal()
	suspected := k.suspicion.Next()
	for ctx.Err() == nil {
		next := k.protocol.next(k.clock.Monotonic(), k.clock.Now())
		var err error
		switch {
		case next.acquire != nil:
			err = k.acquire(ctx, *next.acquire, next.limit)
		case next.renew != nil:
			err = k.renew(ctx, *next.renew, next.limit)
		default:
			k.logEnd()
			if k.wait(ctx, next.wait, suspected) {
				suspected = k.suspicion.Next()
				k.protocol.suspect()
			}
		}
		if err != nil {
			k.log.Error("the lease ends for good", "cause", err)
			return err
		}
	}
	return nil
}

// acquire makes one attempt. If ctx ends during the attempt, the answer may still come. Then the keeper knows the
// worker and releases it, without having granted it to the issuer.
func (k *Keeper) acquire(ctx context.Context, r Request, limit time.Duration) error {
	attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastAcquisition, cancel) })()
	sent := k.clock.Monotonic()
	a, err := k.store.Acquire(attempt, r)
	received := k.clock.Monotonic()
	k.record.acquisition(ctx, err)
	var refusal *Refusal
	switch {
	case err == nil:
		slow := k.clock.Now() == Unset && received-sent > slowAnswer
		k.clock.Observe(a.DatabaseMicros, sent, received)
		k.record.acknowledged(a.DatabaseMicros, sent, received)
		k.logUngated(a)
		k.logAhead(a.Worker, a.DatabaseMicros)
		g := k.protocol.acquired(a, sent)
		if ctx.Err() != nil {
			return nil
		}
		if slow {
			k.protocol.due, k.ungranted = sent, true // the renewal grants it
			return nil
		}
		return k.grant(g, a.Term, true)
	case k.final(err):
		return err
	case errors.As(err, &refusal):
		if refusal.Reason == Closed {
			k.revoke() // of a lease that was lost before
		}
		k.protocol.refused(refusal, received)
	default:
		k.protocol.unknownAcquire(received)
	}
	k.failed(ctx, err)
	return nil
}

func (k *Keeper) renew(ctx context.Context, r Renewal, limit time.Duration) error {
	attempt, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r.Sent = k.clock.Monotonic()
	answer, err := k.store.Renew(attempt, r)
	received := k.clock.Monotonic()
	if answer.Late != nil { // an answer that is late is an answer: all counts from the asking
		r = *answer.Late
	}
	k.record.renewal(ctx, received-r.Sent, err)
	var lost *Lost
	var refusal *Refusal
	switch {
	case err == nil:
		k.clock.Observe(answer.DatabaseMicros, r.Sent, received)
		k.record.acknowledged(answer.DatabaseMicros, r.Sent, received)
		k.logAhead(r.Worker, answer.DatabaseMicros)
		return k.grant(k.protocol.renewed(r, answer, k.clock.Now()), r.Term, k.ungranted)
	case k.final(err):
		return err
	case errors.As(err, &lost):
		k.protocol.lost(lost.Place, received)
		k.logLost(lost)
	case errors.As(err, &refusal) && refusal.Reason == Closed:
		k.revoke()
		k.protocol.unknownRenew(err, received) // the row may be copied, with this lease, to a database that is open
	case errors.As(err, &refusal): // a copy, or restored in place: the lease is not this database's
		k.protocol.lost("", received)
	default:
		k.protocol.unknownRenew(err, received)
	}
	k.failed(ctx, err)
	return nil
}

// grant hands the grant to the issuer. If the issuer refuses it, its settings differ from the database's, and no later
// attempt could succeed.
//
// If the database has lost a commit, the process may get its own worker again, with an earlier end than the issuer has.
// The issuer's grant cannot be shortened. It need not be: it was acknowledged to this process, which holds the worker
// again. It stays until renewals pass it.
func (k *Keeper) grant(g Grant, term int64, acquired bool) error {
	k.ungranted = false
	if last := k.issued.Load().Grant; g.Worker == last.Worker && g.Until < last.Until {
		if acquired {
			k.logLost(&Lost{Worker: g.Worker, Mark: g.Until, Acknowledged: last.Until})
		}
		g = last
	} else if err := k.issuer.Grant(g.Worker, g.From, g.Until); err != nil {
		return fmt.Errorf("the issuer does not take the grant of worker %d from tick %d until %d: %w",
			g.Worker, g.From, g.Until, err)
	}
	k.issued.Store(&issued{g, term})
	k.record.granted()
	k.logGranted(acquired)
	k.grantedOnce.Do(func() { close(k.granted) })
	return nil
}

// revoke takes the grant back from the issuer, because the database is closed. The next grant may end earlier than the
// last. The next attempt is over another connection: the address may lead to the database that has taken the place.
func (k *Keeper) revoke() {
	k.issuer.Revoke()
	k.issued.Store(new(issued))
	k.store.Close()
}

// failed records and logs an attempt that granted nothing. If ctx has ended, the keeper itself cut the attempt short,
// and it is no failure.
func (k *Keeper) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	held := k.protocol.held != nil
	if refusal := new(Refusal); errors.As(err, &refusal) && refusal.Reason == Closed {
		held = false // the row still has the lease, but it is good for nothing here
	}
	k.record.failed(err, held, k.clock.Monotonic())
	k.logFailed(err)
}

// release gives the worker back. If the connection turns out to be dead, it tries once more on a new one.
func (k *Keeper) release(ctx context.Context) {
	h := k.protocol.held
	if h == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseLimit)
	defer cancel()
	err := k.store.Release(ctx, h.Lease, h.bound.Until)
	lost := new(Lost)
	if err != nil && !errors.As(err, &lost) && ctx.Err() == nil {
		err = k.store.Release(ctx, h.Lease, h.bound.Until)
	}
	if errors.As(err, &lost) {
		k.logLost(lost)
		return
	}
	if err != nil {
		k.log.Warn("worker not released: it is free when its reservation and the quarantine have passed",
			"worker", h.Worker, "cause", connect.Explain(err))
		return
	}
	k.log.Info("worker released", "worker", h.Worker, "term", h.Term)
}

// final reports whether the answer shows that no later attempt could succeed. After the first grant the settings were
// right, and the address leads elsewhere now. It may lead back.
func (k *Keeper) final(err error) bool {
	select {
	case <-k.granted:
		return false
	default:
		return wrongDatabase(err)
	}
}

// wrongDatabase reports whether another database has answered than the one with the worker rows.
func wrongDatabase(err error) bool {
	return errors.Is(err, ErrNamespaceMismatch) || errors.Is(err, ErrElsewhere)
}

package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/tests/support/rows"
)

// process is one life of a proxy's core: the real generator, clock, keeper and store. Its goroutine runs only while the
// history waits for its next event.
type process struct {
	h      *history
	life   int
	name   string
	keeper *lease.Keeper
	ids    *generator.Generator
	clock  *lease.Clock

	monotonic time.Duration
	rate      int  // of the monotonic clock, in thousandths
	frozen    bool // the monotonic clock stands still: the machine sleeps, or the clock is broken
	paused    bool // the process does nothing

	events chan event
	reply  chan reply
	now    event // what it waits for
	stop   context.CancelFunc

	tenures []*tenure // those that this life got acknowledged
	last    int64     // the last ID
	shown   int64     // the last reading of its clock
	wrong   string    // a broken invariant that its goroutine found
	revoked bool      // the database said that it is closed, and has granted nothing since
	over    bool      // it was asked to end and the keeper knows: it must issue nothing more
}

// event is the point at which a process needs the history to go on. If all fields are empty, its keeper has ended.
type event struct {
	wait  time.Duration // above 0
	write *write
	err   error // of Run
}

// ended reports whether Run has returned.
func (e event) ended() bool { return e.wait == 0 && e.write == nil }

// reply is the result of a read from the connection, or the error of a wait.
type reply struct {
	bytes []byte
	err   error
}

// write is one statement on its way. One of its first three fields is set.
type write struct {
	acquire *rows.Acquire
	renew   *rows.Renew
	release *rows.Release
	life    int
	owner   string
	late    bool // its process has given it up
	heard   bool // its clean acknowledgement arrived
	applied bool
	bytes   []byte      // the answer to it, when applied
	clean   rows.Answer // the row in it, if the answer is a clean acknowledgement
}

var layout = generator.Layout{
	TimestampBits: 41, WorkerBits: 3, SequenceBits: 2,
	Epoch: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Unit: time.Millisecond,
}

const (
	window      = 6 * time.Second
	firstWindow = time.Second
	name        = "00000000-0000-4000-8000-000000000000" // of the namespace
)

// connection is parsed once. Nobody listens there.
var connection, errConnection = pgconn.ParseConfig("postgres://keeper@127.0.0.1:1/histories?sslmode=disable")

func (h *history) start(node string) *process {
	h.lives++
	p := &process{
		h: h, life: h.lives, name: node, rate: []int{1000, 1000, 1050, 950}[h.choose("rate", 0, 3)],
		monotonic: time.Duration(h.lives) * time.Minute, events: make(chan event), reply: make(chan reply),
		shown: lease.Unset,
	}
	p.clock = lease.NewClockFrom(layout.Unit, func() time.Duration { return p.monotonic })
	var err error
	p.ids, err = generator.New(generator.Settings{
		Layout: layout, Now: p.clock.Now,
		Random: func(limit uint32) uint32 { return uint32(h.choose("first sequence", 0, int(limit)-1)) },
	})
	must(errors.Join(errConnection, err))
	config := connection.Copy()
	config.DialFunc = dialer(p)
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	store := lease.NewPostgres(config, connect.Rules{
		Age: window, Now: p.clock.Monotonic, Jitter: func() float64 { return h.jitter },
	})
	p.keeper, err = lease.NewKeeper(lease.Settings{
		Namespace: h.name, Store: store, Issuer: audited{p}, Clock: p.clock, Node: node,
		Window: window, FirstWindow: firstWindow, Log: slog.New(slog.DiscardHandler),
		Wait: func(_ context.Context, d time.Duration, _ <-chan struct{}) bool {
			_ = p.ask(event{wait: d})
			return false
		},
		Jitter: func() float64 { return h.jitter },
	})
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() { p.events <- event{err: p.keeper.Run(ctx)} }()
	p.now = <-p.events
	return p
}

// ask passes the turn to the history, and goes on with its reply. The process's goroutine calls it.
func (p *process) ask(e event) reply {
	p.events <- e
	return <-p.reply
}

// goOn lets the process run until its next event.
func (p *process) goOn(r reply) {
	p.reply <- r
	p.now = <-p.events
	if p.wrong != "" {
		p.h.broken("%s", p.wrong)
	}
	if p.now.ended() && p.now.err != nil {
		p.h.broken("the keeper of life %d gave up: %v", p.life, p.now.err)
	}
}

// audited is the generator as the keeper sees it; it checks every grant.
type audited struct{ *process }

func (a audited) Grant(worker int, from, until int64) error {
	if t := a.tenure(worker); t == nil || from < t.from || until > t.until {
		a.wrong = fmt.Sprintf("invariant 2: life %d grants worker %d [%d, %d), acknowledged is %+v",
			a.life, worker, from, until, t)
	}
	return a.ids.Grant(worker, from, until)
}

func (a audited) Revoke() { a.ids.Revoke() }

func (a audited) Seal() { a.ids.Seal() }

// tenure returns the latest one of a worker.
func (p *process) tenure(worker int) *tenure {
	for i := len(p.tenures) - 1; i >= 0; i-- {
		if p.tenures[i].worker == worker {
			return p.tenures[i]
		}
	}
	return nil
}

// draw takes up to n IDs, as many as there are at this moment.
func (p *process) draw(n int) {
	if tick := p.clock.Now(); tick < p.shown {
		p.h.broken("invariant 6: the clock of life %d stepped back from %d to %d", p.life, p.shown, tick)
	} else {
		p.shown = tick
	}
	first, count, err := p.ids.TryNextN(n)
	if p.over && (count > 0 || !errors.Is(err, generator.ErrSealed)) {
		p.h.broken("invariant 7: life %d, which has ended, issued %d IDs, error %v", p.life, count, err)
	}
	if p.revoked && count > 0 {
		p.h.broken("invariant 8: life %d, whose database is closed, issued %d IDs", p.life, count)
	}
	for id := first; id < first+int64(count); id++ {
		p.h.issued(p, id)
	}
}

// finish lets the process end in good order. It gives up whatever it waits for.
func (p *process) finish() {
	p.h.note(moment{what: seals, life: p.life})
	p.stop()
	if p.now.write != nil {
		p.goOn(reply{err: os.ErrDeadlineExceeded})
	} else {
		p.goOn(reply{err: context.Canceled})
	}
	p.over = true
	p.h.tombs = append(p.h.tombs, p)
}

// kill ends the process at once. Nothing that it still tries reaches anybody.
func (p *process) kill() {
	p.stop()
	for !p.now.ended() {
		p.reply <- reply{err: errCut}
		p.now = <-p.events
	}
}

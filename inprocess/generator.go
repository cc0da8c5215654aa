package inprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/internal/lease/holder"
)

// Generator gives IDs of a leased worker. Make it with Open, and Close it at the end.
type Generator struct {
	settings holder.Settings
	state    atomic.Pointer[state] // never nil
	news     news                  // of a grant, another state, or a failure that no wait helps

	closing context.Context // ends with the first Close, so that no Resume locks it out
	close   context.CancelFunc

	changing  chan struct{}   // a lock: its holder may change state, and uses the next two
	leaving   <-chan struct{} // closed when nothing of the last session is left
	namespace string          // UUID, once there was a grant
}

// state is what calls find: a session, or why there is none. It is immutable.
type state struct {
	session *session
	why     error
}

// The reasons why a call gives no ID. Compare with errors.Is.
var (
	// ErrNoGrant: no worker is granted at this moment. Its text says why, as far as that is known.
	ErrNoGrant = errors.New("no worker is granted at this moment")
	// ErrTickFull: the IDs of this tick are used up. There are more after one unit of the layout, by default 1 ms.
	ErrTickFull = errors.New("the IDs of this tick are used up")
	// ErrSuspended: Suspend was called, and Resume was not yet successful.
	ErrSuspended = errors.New("the generator is suspended")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("the generator is closed")
	// ErrEndOfTime: the timestamps of the layout have ended. Only a new namespace helps.
	ErrEndOfTime = generator.ErrEndOfTime
)

// Open checks the settings and the namespace, and waits for the first grant until ctx ends. Without a deadline it waits
// for ever while the database is away; Settings.Log says so. Later it does not look at ctx. If Open fails, nothing is
// left.
func Open(ctx context.Context, s Settings) (*Generator, error) {
	h, err := s.holder()
	if err != nil {
		return nil, err
	}
	g := newGenerator(h)
	if err := g.Resume(ctx); err != nil {
		return nil, fmt.Errorf("opening a generator in process: %w", err)
	}
	return g, nil
}

func newGenerator(h holder.Settings) *Generator {
	none := make(chan struct{})
	close(none)
	g := &Generator{settings: h, changing: make(chan struct{}, 1), leaving: none}
	g.closing, g.close = context.WithCancel(context.Background())
	g.news.begin()
	g.state.Store(&state{why: ErrSuspended})
	return g
}

// Next draws an ID. While there is no grant it waits until ctx ends. It also waits, for one unit of the layout at most,
// if the IDs of this tick are used up.
//
// The IDs of a Generator strictly increase, from one Resume to the next. Across a Resume, and compared with those of
// others, they are ordered by the clock of the database.
func (g *Generator) Next(ctx context.Context) (int64, error) {
	if s := g.state.Load().session; s != nil {
		if id, err := s.generator.Next(ctx); err == nil {
			return id, nil
		}
	}
	id, _, err := g.run(ctx, 1)
	return id, err
}

// TryNext draws an ID, and never waits. It is for callers with another source of IDs. Errors are ErrNoGrant,
// ErrTickFull, ErrSuspended, ErrClosed and ErrEndOfTime.
func (g *Generator) TryNext() (int64, error) {
	at := g.state.Load()
	if at.session == nil {
		return 0, at.why
	}
	id, count, err := at.session.generator.TryNextN(1)
	switch {
	case count == 1:
		return id, nil
	case err == nil:
		return 0, ErrTickFull
	}
	if now := g.state.Load(); now.session == nil {
		return 0, now.why
	}
	return 0, at.session.reason(err)
}

// mostAtOnce is for how many IDs AppendN makes room before it has any.
const mostAtOnce = 4096

// AppendN appends n IDs in rising order. It waits as Next does. With an error, the IDs that were drawn before it are
// appended.
func (g *Generator) AppendN(ctx context.Context, ids []int64, n int) ([]int64, error) {
	if n < 0 {
		return ids, fmt.Errorf("%d IDs were asked for; expected none or more", n)
	}
	ids = slices.Grow(ids, min(n, mostAtOnce)) // n may be more than the memory has room for
	for n > 0 {
		first, count, err := g.run(ctx, n)
		if err != nil {
			return ids, err
		}
		for i := range count {
			ids = append(ids, first+int64(i))
		}
		n -= count
	}
	return ids, nil
}

// run draws a run of up to n IDs: first, first+1, and so on. It waits for a grant.
func (g *Generator) run(ctx context.Context, n int) (first int64, count int, err error) {
	for {
		news := g.news.next()
		at := g.state.Load()
		if at.session == nil {
			err = at.why
		} else if first, count, err = at.session.generator.NextN(ctx, n); err == nil {
			return first, count, nil
		} else {
			err = at.session.reason(err)
		}
		if !passes(err) || ctx.Err() != nil {
			return 0, 0, ended(ctx, err)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return 0, 0, ended(ctx, g.why())
		}
	}
}

// why says why there is no grant now.
func (g *Generator) why() error {
	at := g.state.Load()
	if at.session == nil {
		return at.why
	}
	return at.session.reason(generator.ErrNoGrant)
}

// ended adds the end of a context, if it was the cause, to the reason for which the call had to wait.
func ended(ctx context.Context, why error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(why, cause) && passes(why) {
		return fmt.Errorf("waiting for a worker: %w: %w", cause, why)
	}
	return why
}

// passes says whether a wait helps against this reason.
func passes(why error) bool {
	var refusal *lease.Refusal
	switch {
	case errors.Is(why, ErrClosed), errors.Is(why, ErrEndOfTime), errors.Is(why, errEnded),
		errors.Is(why, lease.ErrNamespaceMismatch), errors.Is(why, lease.ErrElsewhere):
		return false
	case errors.As(why, &refusal):
		return refusal.Reason != lease.Copy &&
			!(refusal.Reason == lease.NoWorker && refusal.Retired == refusal.Workers)
	}
	return true
}

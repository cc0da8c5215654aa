package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/tests/support/rows"
)

// A window of an hour, in faked time: the real keeper, clock and generator over the table in memory.
const (
	hour     = time.Hour
	hourRest = hour + 4*time.Second // quarantine for that window
	// between is the longest time between two renewals, with the jitter
	between = 22 * time.Second
	// grown is the time until the window has its full length
	grown = 3 * time.Minute
	// again is the longest time until a keeper notices that the database is back: an attempt and a pause
	again = 11 * time.Second
)

// shared is one table, with its database's clock.
type shared struct {
	mu    sync.Mutex
	table rows.Table
	start time.Time
}

func newShared(workers int) *shared {
	s := &shared{start: time.Now(), table: rows.Table{
		Settings: rows.Settings{
			Namespace: name, MaxWindow: hour.Milliseconds(), Skew: 2000, Quarantine: hourRest.Milliseconds(),
			End: 1 << 41, Unit: 1000,
		},
		Rows: make([]rows.Row, 1+workers),
	}}
	s.table.Rows[0].Kept = true
	return s
}

func (s *shared) now() int64 { return (hour + time.Since(s.start)).Milliseconds() }

// away is a way in which a database is away.
type away int

const (
	present  away = iota
	stopped       // connections are refused
	hung          // nothing is answered
	oneSided      // requests arrive, answers do not
)

// path is the way of one process to the table: a lease.Store.
type path struct {
	*shared
	away         away
	acknowledged int64 // the mark that reached this process last
}

var errAway = errors.New("the database is away")

// write runs a statement unless the database is away. It returns nil if the answer arrives.
func (p *path) write(ctx context.Context, statement func()) error {
	p.mu.Lock()
	p.table.Now = p.now()
	how := p.away
	if how == present || how == oneSided {
		statement()
	}
	p.mu.Unlock()
	switch how {
	case present:
		return nil
	case stopped:
		return errAway
	}
	<-ctx.Done()
	return ctx.Err()
}

func (p *path) Acquire(ctx context.Context, r lease.Request) (a lease.Acquired, err error) {
	if lost := p.write(ctx, func() {
		a, err = acquireIn(&p.table, r, func(workers []int) int { return workers[0] })
	}); lost != nil {
		return lease.Acquired{}, lost
	}
	if err == nil {
		p.tell(a.Grant.Until)
	}
	return a, err
}

func (p *path) Renew(ctx context.Context, r lease.Renewal) (a lease.Renewed, err error) {
	if lost := p.write(ctx, func() { a, err = renewIn(&p.table, r) }); lost != nil {
		return lease.Renewed{}, lost
	}
	if err == nil {
		p.tell(a.Until)
	}
	return a, err
}

func (p *path) Release(ctx context.Context, l lease.Lease, acknowledged int64) error {
	return p.write(ctx, func() {
		p.table.Release(rows.Release{
			Namespace: l.Namespace, Worker: l.Worker, Owner: l.Owner, Term: l.Term, Acknowledged: acknowledged,
		})
	})
}

func (p *path) Close() {}

// tell delivers a mark to the process.
func (p *path) tell(mark int64) {
	p.mu.Lock()
	p.acknowledged = mark
	p.mu.Unlock()
}

// told returns the mark that reached the process last.
func (p *path) told() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acknowledged
}

func (p *path) set(how away) {
	p.mu.Lock()
	p.away = how
	p.mu.Unlock()
}

// proxy is a running keeper with its generator, and every ID it issued.
type proxy struct {
	*path
	t    *testing.T
	ids  *generator.Generator
	last int64 // the tick of the last ID
	stop func()
}

// drawn is every ID of a test.
type drawn map[int64]bool

// startProxy starts a proxy with jitter from random, which belongs to the story.
func startProxy(t *testing.T, s *shared, node string, random *rand.Rand) *proxy {
	jitter := rand.New(rand.NewPCG(random.Uint64(), 17)).Float64
	clock := lease.NewClock(time.Millisecond)
	ids, err := generator.New(generator.Settings{Layout: layout, Now: clock.Now})
	must(err)
	p := &proxy{path: &path{shared: s}, t: t, ids: ids}
	keeper, err := lease.NewKeeper(lease.Settings{
		Namespace: name, Store: p.path, Issuer: ids, Clock: clock, Node: node, Window: hour, Jitter: jitter,
	})
	must(err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- keeper.Run(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// draw draws one ID, if there is one. It compares the ID with all others and with the mark.
func (p *proxy) draw(all drawn) bool {
	p.t.Helper()
	id, count, err := p.ids.TryNextN(1)
	if count == 0 {
		if !errors.Is(err, generator.ErrGrantEnded) && !errors.Is(err, generator.ErrNoGrant) {
			p.t.Fatal(err)
		}
		return false
	}
	parts, err := layout.Decode(id)
	must(err)
	mark := p.told()
	switch {
	case all[id]:
		p.t.Fatalf("ID %d came twice", id)
	case parts.Tick >= mark:
		p.t.Fatalf("an ID of tick %d; the mark is %d", parts.Tick, mark)
	}
	all[id], p.last = true, parts.Tick
	return true
}

// lasts draws every second until there is no ID, for at most this time. It returns how long there were IDs.
func (p *proxy) lasts(all drawn, most time.Duration) (d time.Duration) {
	p.t.Helper()
	for ; d < most && p.draw(all); d += time.Second {
		time.Sleep(time.Second)
	}
	return d
}

// sleep lets a random time pass, up to most, in whole milliseconds.
func sleep(random *rand.Rand, most time.Duration) time.Duration {
	d := time.Duration(random.Int64N(most.Milliseconds())) * time.Millisecond
	time.Sleep(d)
	return d
}

// inHours runs a story many times, each time with another seed.
func inHours(t *testing.T, story func(*testing.T, *rand.Rand)) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 17))
		synctest.Test(t, func(t *testing.T) { story(t, random) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestWithAWindowOfAnHourIDsGoOnForNearlyAllOfItWheneverTheDatabaseGoesAway(t *testing.T) {
	inHours(t, func(t *testing.T, random *rand.Rand) {
		s, all := newShared(2), drawn{}
		p := startProxy(t, s, "a", random)
		defer p.stop()
		time.Sleep(grown)
		for range 3 {
			if d := p.lasts(all, time.Duration(random.Int64N(int64(hour)))); d == 0 {
				t.Fatal("no ID while the database is there")
			}
			p.set(away(1 + random.IntN(3)))
			cut := s.now()
			lasted := p.lasts(all, 2*hour)
			switch mark := p.told(); {
			case lasted < hour*2/3, lasted < hour-between-time.Second, lasted > hour:
				t.Fatalf("IDs went on for %v, expected from two thirds of the window, and all but %v, to all of it",
					lasted, between)
			case mark-p.last > 1001:
				t.Fatalf("the last ID is of tick %d, and the mark is %d", p.last, mark)
			case mark > cut+hour.Milliseconds():
				t.Fatalf("the mark is %d ticks after the cut", mark-cut)
			}
			sleep(random, 2*hour) // meanwhile the quarantine may end or not
			if p.draw(all) {
				t.Fatal("an ID after the mark")
			}
			p.set(present)
			time.Sleep(again)
			if !p.draw(all) {
				t.Fatalf("no ID %v after the database is back", again)
			}
			time.Sleep(grown)
		}
	})
}

func TestWithAWindowOfAnHourAVanishedProxysWorkerRestsForUpToTwoAndAReleasedOneForUpToOne(t *testing.T) {
	inHours(t, func(t *testing.T, random *rand.Rand) {
		s, all := newShared(1), drawn{}
		p := startProxy(t, s, "a", random)
		defer p.stop()
		time.Sleep(grown)
		p.lasts(all, time.Duration(random.Int64N(int64(hour))))
		rest, vanishes := time.Duration(0), random.IntN(2) == 0
		if vanishes {
			p.set(stopped)
			rest = hourRest
		}
		p.stop()
		mark, gone := s.table.Rows[1].Mark, time.Now()
		next := startProxy(t, s, "b", random)
		defer next.stop()
		const pause = 16 * time.Second // the longest pause of a keeper without a worker
		time.Sleep(time.Duration(mark-s.now())*time.Millisecond + rest)
		if next.draw(all) {
			t.Fatal("the worker was given away before its rest was over")
		}
		time.Sleep(pause)
		if !next.draw(all) {
			t.Fatalf("vanished: %t: the worker was not free %v after its mark and rest", vanishes, pause)
		}
		if took := time.Since(gone) - pause; took > hour+rest {
			t.Fatalf("the worker rested for %v, expected at most the window and %v", took, rest)
		}
	})
}

package simulation

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/tests/support/rows"
)

// healthy is a lease.Store over a table in memory. A test can set its database's clock; nothing else goes wrong.
type healthy struct {
	mu     sync.Mutex // for table
	table  *rows.Table
	start  time.Time
	offset atomic.Int64
}

func (s *healthy) now() int64 {
	return (time.Since(s.start) + time.Duration(s.offset.Load())).Milliseconds()
}

func (s *healthy) Acquire(_ context.Context, r lease.Request) (lease.Acquired, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table.Now = s.now()
	return acquireIn(s.table, r, func(workers []int) int { return workers[0] })
}

func (s *healthy) Renew(_ context.Context, r lease.Renewal) (lease.Renewed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table.Now = s.now()
	return renewIn(s.table, r)
}

func (s *healthy) Release(context.Context, lease.Lease, int64) error { return nil }
func (s *healthy) Close()                                            {}

// keep runs a keeper over a healthy store until check returns. The clock begins two hours after the epoch.
func keep(t *testing.T, check func(*healthy, *generator.Generator, *lease.Clock)) {
	synctest.Test(t, func(t *testing.T) {
		s := &healthy{start: time.Now(), table: &rows.Table{
			Settings: rows.Settings{
				Namespace: name, MaxWindow: 60_000, Skew: 2000, Quarantine: 124_000, End: 1 << 41, Unit: 1000,
			},
			Rows: []rows.Row{{Kept: true}, {Renewed: -1}, {Renewed: -1}},
		}}
		s.offset.Store(int64(2 * time.Hour))
		clock := lease.NewClock(time.Millisecond)
		ids, err := generator.New(generator.Settings{Layout: layout, Now: clock.Now})
		must(err)
		keeper, err := lease.NewKeeper(lease.Settings{
			Namespace: name, Store: s, Issuer: ids, Clock: clock, Node: "node", Log: slog.New(slog.DiscardHandler),
		})
		must(err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- keeper.Run(ctx) }()
		check(s, ids, clock)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAStepBackOfTheDatabasesClockStallsNobodyWhoHoldsALease(t *testing.T) {
	keep(t, func(s *healthy, ids *generator.Generator, clock *lease.Clock) {
		for i := range 12 * 60 * 60 { // until the clock, at 9/10 of its speed, meets the database's
			time.Sleep(time.Second)
			if i == 100 {
				s.offset.Add(-int64(time.Hour))
			}
			if _, count, err := ids.TryNextN(1); count == 0 {
				t.Fatalf("no ID %d s after the start: %v", i, err)
			}
		}
		if ahead := clock.Now() - s.now(); ahead > 1 {
			t.Errorf("the clock is still %d ticks ahead", ahead)
		}
		s.mu.Lock()
		mark := s.table.Rows[1].Mark
		s.mu.Unlock()
		if mark > s.now()+62_000 {
			t.Error("the mark has run away")
		}
	})
}

// The process's IDs must go on to increase. A new lease begins at the database's clock, which is behind those IDs.
func TestAStepBackOfTheDatabasesClockAndALostLeaseMeanNoIDsUntilTheClocksAreAWindowApart(t *testing.T) {
	keep(t, func(s *healthy, ids *generator.Generator, clock *lease.Clock) {
		time.Sleep(100*time.Second + time.Millisecond)
		s.offset.Add(-int64(10 * time.Minute))
		s.mu.Lock()
		s.table.Rows[1].Retired = true
		s.mu.Unlock()
		var last int64
		without, again := false, false
		for range 2 * 60 * 60 {
			time.Sleep(time.Second)
			first, count, err := ids.TryNextN(1)
			// A renewal reserves a window, and the skew beyond it. In between, each renewal gives IDs for less than a
			// second.
			ahead := time.Duration(clock.Now()-s.now()) * time.Millisecond
			switch {
			case count > 0 && first <= last:
				t.Fatalf("ID %d after %d", first, last)
			case count > 0:
				last, again = first, without
			case errors.Is(err, generator.ErrGrantEnded):
				if without = true; again && ahead < 60*time.Second {
					t.Fatalf("no ID while the clock is %v ahead of the database's", ahead)
				}
			}
			if without && again && ahead > 62*time.Second {
				t.Fatalf("IDs while the clock is %v ahead of the database's", ahead)
			}
		}
		if !without || !again {
			t.Errorf("without IDs: %t, and with them again: %t", without, again)
		}
	})
}

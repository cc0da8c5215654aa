package inprocess

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// table is a Store with one worker. Its functions answer in its place, if there are any.
type table struct {
	acquire func(lease.Request) (lease.Acquired, error)
	renew   func(lease.Renewal) (lease.Renewed, error)
	release func()

	start time.Time
	mu    sync.Mutex
	until int64 // the mark
	calls int   // acquisitions
}

func (s *table) now() int64 { return 1_000_000 + time.Since(s.start).Milliseconds() }

func (s *table) Acquire(_ context.Context, r lease.Request) (lease.Acquired, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.acquire != nil {
		return s.acquire(r)
	}
	return s.take(r), nil
}

func (s *table) take(r lease.Request) lease.Acquired {
	from := max(s.now(), s.until)
	s.until = from + r.Window
	return lease.Acquired{
		Lease:          lease.Lease{Namespace: r.Namespace, Worker: 7, Owner: r.Owner, Term: int64(s.calls)},
		Grant:          lease.Grant{Worker: 7, From: from, Until: s.until},
		DatabaseMicros: s.now() * 1000,
	}
}

func (s *table) Renew(_ context.Context, r lease.Renewal) (lease.Renewed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renew != nil {
		return s.renew(r)
	}
	s.until = max(s.until, r.Wanted)
	return lease.Renewed{Until: s.until, DatabaseMicros: s.now() * 1000}, nil
}

func (s *table) Release(context.Context, lease.Lease, int64) error {
	if s.release != nil {
		s.release()
	}
	return nil
}

func (s *table) Close() {}

// set changes the answers.
func (s *table) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

var space = namespace.Namespace{ID: "n", Layout: generator.DefaultLayout(), MaxWindow: time.Minute}

// over runs a test with a generator over a table, without PostgreSQL. The test begins its sessions.
func over(t *testing.T, s *table, check func(t *testing.T, g *Generator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.start = time.Now()
		h, err := Settings{
			LeaseDatabase: "host=nowhere", Node: "n", Log: slog.New(slog.DiscardHandler),
		}.holder()
		if err != nil {
			t.Fatal(err)
		}
		h.Wrap = func(_ lease.Store, issuer lease.Issuer) (lease.Store, lease.Issuer) { return s, issuer }
		g := newGenerator(h)
		defer func() {
			if err := g.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		check(t, g)
	})
}

func begin(t *testing.T, g *Generator) *session {
	t.Helper()
	s, err := g.begin(t.Context(), space)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patient is a context that ends, so that a call that waits in vain fails its test. Its hour takes no time in a bubble.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(cancel)
	return ctx
}

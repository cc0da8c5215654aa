package lease

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// script is a Store of functions. If one is nil, the script answers as a healthy table with one worker would.
type script struct {
	acquire func(context.Context, Request) (Acquired, error)
	renew   func(context.Context, Renewal) (Renewed, error)
	release func(context.Context, Lease) error

	start   time.Time
	mu      sync.Mutex
	log     []string // what happened, in order
	at      []time.Duration
	granted Grant   // the last one
	marks   []int64 // what each release sent as acknowledged
}

func (s *script) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
	s.at = append(s.at, time.Since(s.start))
}

func (s *script) story() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// epochAge is the time that the database's clock shows when a script starts.
const epochAge = 1000 * time.Second

func (s *script) micros() int64 { return (epochAge + time.Since(s.start)).Microseconds() }
func (s *script) tick() int64   { return s.micros() / 1000 }

func (s *script) Acquire(ctx context.Context, r Request) (Acquired, error) {
	s.note("acquire")
	if s.acquire != nil {
		return s.acquire(ctx, r)
	}
	return s.take(r, 7), nil
}

func (s *script) take(r Request, worker int) Acquired {
	from := s.tick()
	return Acquired{
		Lease:          Lease{Namespace: r.Namespace, Worker: worker, Owner: r.Owner, Term: 1},
		Grant:          Grant{Worker: worker, From: from, Until: from + r.Window},
		DatabaseMicros: s.micros(),
	}
}

func (s *script) Renew(ctx context.Context, r Renewal) (Renewed, error) {
	s.note("renew %v", time.Duration(r.Window)*time.Millisecond)
	if s.renew != nil {
		return s.renew(ctx, r)
	}
	return s.raise(r), nil
}

func (s *script) raise(r Renewal) Renewed {
	return Renewed{Until: r.Wanted, DatabaseMicros: s.micros()}
}

func (s *script) Release(ctx context.Context, l Lease, acknowledged int64) error {
	s.note("release %d", l.Worker)
	s.marks = append(s.marks, acknowledged) // by Run's goroutine, read when Run has returned
	if s.release != nil {
		return s.release(ctx, l)
	}
	return nil
}

func (s *script) Close() { s.note("close") }

// Grant implements Issuer.
func (s *script) Grant(worker int, from, until int64) error {
	s.note("grant %d [%d, %d)", worker, from, until)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted = Grant{Worker: worker, From: from, Until: until}
	return nil
}

func (s *script) Revoke() { s.note("revoke") }

func (s *script) Seal() { s.note("seal") }

// keep runs a keeper over the script inside a synctest bubble, calls check, and ends the keeper.
func keep(t *testing.T, s *script, check func(k *Keeper)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, keeperOf(t, s), check) })
}

// run runs a keeper in a bubble until check has returned.
func run(t *testing.T, k *Keeper, check func(k *Keeper)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	synctest.Wait()
	check(k)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func keeperOf(t *testing.T, s *script) *Keeper {
	t.Helper()
	s.start = time.Now()
	k, err := NewKeeper(Settings{
		Namespace: "n", Store: s, Issuer: s, Clock: NewClock(time.Millisecond), Node: "node", Version: "v",
		Jitter: func() float64 { return 0.5 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ready reports whether the issuer's grant has not ended.
func (s *script) ready(k *Keeper) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return k.clock.Now() != Unset && k.clock.Now() < s.granted.Until
}

func (s *script) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := s.story(); !slices.Equal(got, want) {
		t.Errorf("it happened:\n\t%s\nexpected:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

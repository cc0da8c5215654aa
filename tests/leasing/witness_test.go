package leasing

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/lease"
)

// A row that is older than what its holder knows proves that acknowledged writes are gone. The tests forge what the
// holder knows, because the guards let no row go back.

const stranger = "00000000-0000-4000-8000-0000000000aa"

func TestARowThatProvesThatWritesAreGoneClosesTheGateAndMakesTheJoinsUnknown(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]func(a *lease.Acquired){
		"a term below the holder's":          func(a *lease.Acquired) { a.Term++ },
		"another owner of the same term":     func(a *lease.Acquired) { a.Owner = stranger },
		"a mark below what was acknowledged": func(a *lease.Acquired) { a.Grant.Until++ },
	} {
		for how, write := range map[string]func(r *room, s lease.Store, a lease.Acquired) error{
			"renewal": func(r *room, s lease.Store, a lease.Acquired) error {
				_, err := s.Renew(r.context(), renewal(a, never))
				return err
			},
			"release": func(r *room, s lease.Store, a lease.Acquired) error {
				return s.Release(r.context(), a.Lease, a.Grant.Until)
			},
		} {
			t.Run(name+", seen by a "+how, func(t *testing.T) {
				r := newRoom(t, small)
				url, _ := r.keeperRole("witness")
				s := r.store(url)
				a := r.acquire(s, "a")
				if !ask[bool](r, "SELECT pgflurry.joins_are_known()") {
					t.Fatal("the joins are not known, so this proves nothing")
				}
				knows(&a)
				before := r.now()
				var lost *lease.Lost
				if err := write(r, s, a); !errors.As(err, &lost) || !lost.Forgot || !lost.CommitLost() {
					t.Fatalf("%s: %v", how, err)
				}
				if opens := r.gate(); opens < before+quarantine.Milliseconds() {
					t.Errorf("the gate opens %d ticks later, expected the quarantine", opens-before)
				}
				if ask[bool](r, "SELECT pgflurry.joins_are_known()") {
					t.Error("the joins are still known")
				}
				var refusal *lease.Refusal
				if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) ||
					refusal.Reason != lease.GateClosed || !strings.Contains(refusal.By, "role witness") {
					t.Errorf("acquire: %v", err)
				}
			})
		}
	}
}

func TestARowThatHasGoneOnProvesNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	r.pass(5*time.Second + quarantine)
	r.acquire(s, "b")
	var lost *lease.Lost
	if _, err := s.Renew(r.context(), renewal(a, never)); !errors.As(err, &lost) || lost.Forgot {
		t.Errorf("renewal of a lease that another process has: %v", err)
	}
	r.release(s, a.Lease)
	if r.gate() != 0 || !ask[bool](r, "SELECT pgflurry.joins_are_known()") {
		t.Error("the gate is closed, or the joins are unknown")
	}
}

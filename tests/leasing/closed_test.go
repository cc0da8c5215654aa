package leasing

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/migrations"
)

// listener is a generator that tells when its keeper gives or takes a grant.
type listener struct {
	*generator.Generator
	granted, revoked chan struct{}
}

func (l listener) Grant(worker int, from, until int64) error {
	defer signal(l.granted)
	return l.Generator.Grant(worker, from, until)
}

func (l listener) Revoke() {
	defer signal(l.revoked)
	l.Generator.Revoke()
}

// signal leaves one signal, however many came before.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func await(t *testing.T, c chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatal(what)
	}
}

func TestAKeeperInAClosedDatabaseIssuesNothingAndGoesOnWithItsWorkerWhenItIsOpened(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	layout, err := generator.ParseLayout(small)
	if err != nil {
		t.Fatal(err)
	}
	clock := lease.NewClock(time.Millisecond)
	ids, err := generator.New(generator.Settings{Layout: layout, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	l := listener{ids, make(chan struct{}, 1), make(chan struct{}, 1)}
	keeper, err := lease.NewKeeper(lease.Settings{
		Namespace: r.namespace, Store: r.store(r.url), Issuer: l, Clock: clock, Node: "a",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- keeper.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	await(t, l.granted, "no grant")
	const holder = "SELECT format('%s %s %s', worker, owner, term) FROM pgflurry.worker WHERE node = 'a'"
	held := ask[string](r, holder)

	r.do("CALL pgflurry.close_database()")
	await(t, l.revoked, "the grant was not taken back")
	if _, n, err := ids.TryNextN(1); n != 0 || !errors.Is(err, generator.ErrNoGrant) {
		t.Errorf("%d IDs of a closed database, error %v", n, err)
	}
	var refusal *lease.Refusal
	if _, err := r.store(r.url).Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.Closed {
		t.Errorf("acquire in a closed database: %v", err)
	}
	for len(l.granted) > 0 { // of renewals before the closing
		<-l.granted
	}

	r.takeBack()
	await(t, l.granted, "the lease does not go on")
	if _, n, err := ids.TryNextN(1); n != 1 {
		t.Errorf("no ID after the closing was taken back: %v", err)
	}
	if now := ask[string](r, holder); now != held {
		t.Errorf("the lease was %s and is %s", held, now)
	}
	if _, err := r.store(r.url).Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.GateClosed {
		t.Errorf("acquire after the closing was taken back: %v, expected the gate", err)
	}
}

func TestALeaseInAClosedDatabaseIsNeitherRenewedNorLost(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	r.do("CALL pgflurry.close_database()")
	var refusal *lease.Refusal
	if _, err := s.Renew(r.context(), renewal(a, never)); !errors.As(err, &refusal) || refusal.Reason != lease.Closed {
		t.Errorf("renewal in a closed database: %v", err)
	}
	if mark := r.mark(a.Worker); mark != a.Grant.Until {
		t.Errorf("the mark went from %d to %d", a.Grant.Until, mark)
	}
	r.do("CALL pgflurry.identify()")
	if _, err := s.Renew(r.context(), renewal(a, never)); !errors.As(err, &refusal) {
		t.Errorf("renewal after half of it was taken back: %v", err)
	}
	r.do("CALL pgflurry.end_closing()")
	r.renew(s, renewal(a, never))
}

// takeBack ends the closing of the database.
func (r *room) takeBack() {
	r.t.Helper()
	if err := migrations.Up(r.context(), r.url, migrations.Settings{Moved: true, NoOtherDraws: true}); err != nil {
		r.t.Fatal(err)
	}
}

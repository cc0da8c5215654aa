package node

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/fresh"
	"pgflurry/lease"
	"pgflurry/primary"
)

// leased is a store with one worker, and an issuer. It says when the lease was renewed.
type leased struct{ renewals chan time.Time }

func (s leased) Acquire(_ context.Context, r lease.Request) (lease.Acquired, error) {
	return lease.Acquired{Grant: lease.Grant{Worker: 1, Until: r.Window}}, nil
}

func (s leased) Renew(_ context.Context, r lease.Renewal) (lease.Renewed, error) {
	s.renewals <- time.Now()
	return lease.Renewed{Until: r.Wanted}, nil
}

func (leased) Release(context.Context, lease.Lease, int64) error { return nil }
func (leased) Close()                                            {}
func (leased) Grant(int, int64, int64) error                     { return nil }
func (leased) Seal()                                             {}
func (leased) Revoke()                                           {}

func TestASuspicionRenewsTheLeaseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := leased{make(chan time.Time, 100)}
		keeper, err := lease.NewKeeper(lease.Settings{
			Namespace: "n", Node: "n", Store: s, Issuer: s, Clock: lease.NewClock(time.Millisecond),
			FirstWindow: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		suspicion := new(fresh.Suspicion)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { passOn(ctx, suspicion, keeper) })
		running.Go(func() { _ = keeper.Run(ctx) })
		for range 3 {
			time.Sleep(2 * time.Second) // it would be renewed after 18 s
			raised := time.Now()
			suspicion.Raise()
			if renewed := <-s.renewals; renewed != raised {
				t.Errorf("renewed %v after the suspicion", renewed.Sub(raised))
			}
		}
	})
}

func TestANewPrimaryRaisesASuspicion(t *testing.T) {
	clock := ownClock()
	u := &upstream{rules: &fresh.Rules{Suspicion: new(fresh.Suspicion)}}
	u.primary = primary.New(primary.Settings{
		Servers: []primary.Server{{
			Name: "db1", Close: func() {},
			Ask: func(context.Context) (primary.Answer, error) { return primary.Answer{Timeline: 1}, nil },
		}},
		Now: clock.monotonic, Wall: clock.wall, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	raised, changed := u.rules.Suspicion.Next(), u.primary.Changed()
	running.Go(func() { u.follow(ctx, changed) })
	running.Go(func() { u.primary.Run(ctx) })
	<-raised
}

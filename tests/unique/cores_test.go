package unique

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// A core is one proxy without the wire: keeper, clock and generator, joined as serve joins them.
type core struct {
	keeper    *lease.Keeper
	generator *generator.Generator
}

// A briefStore connects only for a statement, and waits for its turn. So a thousand of them need only the
// connections of a small server.
type briefStore struct {
	*lease.Postgres
	turns chan struct{}
}

const statementLimit = 5 * time.Second // the keeper's own limit, counted from the turn on

func (v briefStore) Acquire(ctx context.Context, r lease.Request) (lease.Acquired, error) {
	return briefly(ctx, v, func(ctx context.Context) (lease.Acquired, error) { return v.Postgres.Acquire(ctx, r) })
}

func (v briefStore) Renew(ctx context.Context, r lease.Renewal) (lease.Renewed, error) {
	return briefly(ctx, v, func(ctx context.Context) (lease.Renewed, error) { return v.Postgres.Renew(ctx, r) })
}

// Release does nothing, because the database is dropped with the test.
func (v briefStore) Release(context.Context, lease.Lease, int64) error { return nil }

func briefly[T any](ctx context.Context, v briefStore, do func(context.Context) (T, error)) (T, error) {
	v.turns <- struct{}{}
	defer func() { <-v.turns }()
	defer v.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementLimit)
	defer cancel()
	return do(ctx)
}

// cores starts n of them and waits until each has a worker. They end with the test, or earlier when the caller calls
// stop.
func (r *room) cores(n int, settings lease.Settings) (all []*core, stop func()) {
	r.t.Helper()
	config, err := pgconn.ParseConfig(r.direct)
	if err != nil {
		r.t.Fatal(err)
	}
	space, err := namespace.Read(server.Within(r.t), r.conn)
	if err != nil {
		r.t.Fatal(err)
	}
	turns := make(chan struct{}, 16)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	r.t.Cleanup(stop)
	all = make([]*core, n)
	for i := range all {
		clock := lease.NewClock(time.Millisecond)
		c := &core{}
		c.generator, err = generator.New(generator.Settings{Layout: space.Layout, Now: clock.Now})
		if err != nil {
			r.t.Fatal(err)
		}
		s := settings
		s.Namespace, s.Clock, s.Issuer, s.Node = space.ID, clock, c.generator, fmt.Sprint("node ", i)
		s.Store = briefStore{lease.NewPostgres(config, connect.Rules{}), turns}
		if c.keeper, err = lease.NewKeeper(s); err != nil {
			r.t.Fatal(err)
		}
		all[i] = c
		running.Go(func() {
			if err := c.keeper.Run(ctx); err != nil {
				r.t.Error(err)
			}
		})
	}
	for _, c := range all {
		select {
		case <-c.keeper.Granted():
		case <-time.After(3 * patience):
			r.t.Fatal("no worker")
		}
	}
	return all, stop
}

func TestWhenEveryWorkerIsTakenNoTwoAreTheSameAndOneMoreProxyRelays(t *testing.T) {
	server.NoLeak(t)
	layout, workers := volume.Of("41/0/6/12", "41/0/10/12"), volume.Of(int64(64), 1024)
	r := &room{t: t, direct: server.MigratedWith(t, migrations.Settings{Layout: layout})}
	r.switchTo(r.direct)
	n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy'")
	holders := map[int64]int{}
	cores, _ := r.cores(n, lease.Settings{FirstWindow: time.Minute})
	for i, c := range cores {
		id, err := c.generator.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		worker := id >> 12 & (workers - 1)
		if other, taken := holders[worker]; taken {
			t.Errorf("worker %d is taken by cores %d and %d", worker, other, i)
		}
		holders[worker] = i
	}
	if n != int(workers)-16 || len(holders) != n {
		t.Errorf("%d workers are taken of %d, expected %d", len(holders), n, workers-16)
	}
	late := program.ServeUnleased(t, r.direct, "one more")
	late.Line("no worker is free", fmt.Sprint(n, " workers"))
	late.Line("are answered from memory") // it says so once it has a worker
	conn := server.Connect(t, late.URL)
	for range 100 {
		id, err := one(conn)
		if worker := id >> 12 & (workers - 1); err != nil || worker != function {
			t.Fatalf("ID %d of worker %d, %v; expected the function's", id, worker, err)
		}
	}
}

package leasing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/postgres"
	"pgflurry/tests/support/server"
)

// makeStandby copies the cluster as it is now. The copy runs as a standby that gets nothing more. So does the standby
// that an asynchronous failover promotes.
func makeStandby(t *testing.T, primary *postgres.Cluster) *postgres.Cluster {
	t.Helper()
	return server.Standby(t, primary, "standby", "", nil)
}

func TestOfSeveralHostsAStandbyIsPassedOver(t *testing.T) {
	t.Parallel()
	cluster, r := ownServer(t, small)
	spare := makeStandby(t, cluster)
	both := fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=postgres sslmode=disable",
		spare.Port, cluster.Port)
	r.acquire(r.store(both), "a")

	only := r.store(spare.URL("postgres"))
	if _, err := only.Acquire(r.context(), r.request("a")); err == nil || errors.As(err, new(*lease.Refusal)) {
		t.Errorf("a standby alone: error %v, expected an unknown outcome", err)
	}
}

func TestInvariants4And6AFailoverThatForgetsAcknowledgedCommitsGivesNoTickTwice(t *testing.T) {
	t.Parallel()
	cluster, r := ownServer(t, small)
	// the lease's connections go to the server that is the primary
	var port atomic.Int32
	port.Store(int32(cluster.Port))
	moving := func() *lease.Postgres {
		config, err := pgconn.ParseConfig(r.url)
		if err != nil {
			t.Fatal(err)
		}
		config.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, fmt.Sprint("127.0.0.1:", port.Load()))
		}
		s := lease.NewPostgres(config, connect.Rules{})
		t.Cleanup(s.Close)
		return s
	}
	early, late := moving(), moving()
	renewedEarly := r.acquire(early, "early")

	spare := makeStandby(t, cluster)

	// the primary acknowledges all of this, and the standby gets none of it
	renewedEarly.Grant.Until = r.renew(early, renewal(renewedEarly, never)).Until
	acquiredLate := r.acquire(late, "late")
	acquiredLate.Grant.Until = r.renew(late, renewal(acquiredLate, never)).Until

	if err := cluster.Stop(r.context()); err != nil {
		t.Fatal(err)
	}
	server.Promote(t, spare)
	r.conn = server.Connect(t, spare.URL("postgres"))
	port.Store(int32(spare.Port))

	for _, s := range []*lease.Postgres{early, late} { // their connections to the old primary are dead
		_, _ = s.Renew(r.context(), renewal(renewedEarly, never))
	}
	var lost *lease.Lost
	if _, err := early.Renew(r.context(), renewal(renewedEarly, never)); !errors.As(err, &lost) || !lost.CommitLost() {
		t.Errorf("renewal of a mark that was forgotten: %v", err)
	}
	if _, err := late.Renew(r.context(), renewal(acquiredLate, never)); !errors.As(err, &lost) || !lost.Taken {
		t.Errorf("renewal of a lease that was forgotten: %v", err)
	}
	// both may use up their grants, so no other holder may begin before
	fresh := moving()
	var refusal *lease.Refusal
	if _, err := fresh.Acquire(r.context(), r.request("fresh")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.GateClosed {
		t.Fatalf("acquire after the failover: %v", err)
	}
	if refusal.Until < renewedEarly.Grant.Until || refusal.Until < acquiredLate.Grant.Until {
		t.Errorf("the gate opens at %d; grants end at %d and %d",
			refusal.Until, renewedEarly.Grant.Until, acquiredLate.Grant.Until)
	}
	r.pass(quarantine + 5*time.Second) // and the first window of the forgotten renewal
	for range 7 {
		a := r.acquire(fresh, "fresh")
		if a.Grant.From < renewedEarly.Grant.Until || a.Grant.From < acquiredLate.Grant.Until {
			t.Errorf("worker %d is granted from %d", a.Worker, a.Grant.From)
		}
	}
}

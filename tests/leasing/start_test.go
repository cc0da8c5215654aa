package leasing

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// started makes a room on a server that crashes and starts again after a worker was acquired. Its restart quarantine is
// the usual one.
func started(t *testing.T) (cluster *postgres.Cluster, r *room, s lease.Store, held lease.Acquired) {
	cluster, r = ownServer(t, small)
	r.do("UPDATE pgflurry.namespace SET restart_quarantine = NULL")
	held = r.acquire(r.store(r.url), "a") // in the life of the server that has written the row, at once
	server.Crash(t, cluster)
	cluster = server.Again(t, cluster.Data, cluster.Port)
	r.url = cluster.URL("postgres")
	r.conn = server.Connect(t, r.url)
	return cluster, r, r.store(r.url), held
}

// starting asks for a worker, expects that a start of the server keeps it back, and returns for how long after it.
func (r *room) starting(s lease.Store, longest time.Duration) time.Duration {
	r.t.Helper()
	asked := r.request("b")
	asked.Longest = longest.Milliseconds()
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), asked); !errors.As(err, &refusal) || refusal.Reason != lease.Starting {
		r.t.Fatalf("acquire: %v, expected that the server has just started", err)
	}
	if !strings.Contains(refusal.Error(), "just started") {
		r.t.Errorf("the refusal says: %v", refusal)
	}
	since := ask[int64](r, "SELECT pgflurry.ticks(pg_postmaster_start_time())")
	return time.Duration(refusal.Until-since-1) * time.Millisecond
}

func TestAServerThatHasJustStartedGrantsNothingWhileHoldersRenewOn(t *testing.T) {
	t.Parallel()
	cluster, r, s, held := started(t)
	held.Grant.Until = r.renew(s, renewal(held, never)).Until
	if rest := r.starting(s, window); rest != window+2*skew {
		t.Errorf("nothing is granted for %v after the start, expected %v", rest, window+2*skew)
	}
	if rest := r.starting(s, hour); rest != hour+2*skew {
		t.Errorf("who knows of windows of an hour gets nothing for %v after the start", rest)
	}
	r.do("UPDATE pgflurry.namespace SET restart_quarantine = '10 minutes'")
	if rest := r.starting(s, window); rest != 10*time.Minute {
		t.Errorf("nothing is granted for %v after the start, expected 10 minutes", rest)
	}
	for _, known := range []string{
		"restart_quarantine = '0'",                                     // a restart forgets nothing
		"restart_quarantine = '1 us'",                                  // it is over
		"restart_quarantine = NULL, born = pg_postmaster_start_time()", // nothing can be forgotten
	} {
		r.do("UPDATE pgflurry.namespace SET " + known)
		r.acquire(s, "b")
	}
	r.do("CREATE DATABASE another")
	url := cluster.URL("another")
	server.Migrate(t, url, migrations.Settings{Layout: small, DatabaseWorkers: 1})
	another := enter(t, url)
	another.do("UPDATE pgflurry.namespace SET restart_quarantine = NULL")
	another.acquire(another.store(url), "a")
}

// Another server may have been the primary before this one started, with a lower mark in its row.
func TestAHolderWhoseLastRenewalIsTooOldForAServerThatHasJustStartedHasLost(t *testing.T) {
	t.Parallel()
	_, r, s, held := started(t)
	ago := func(d time.Duration) {
		r.do(fmt.Sprintf("UPDATE pgflurry.worker SET renewed_at = pg_postmaster_start_time() - interval '%d s' "+
			"WHERE worker = %d", int(d.Seconds()), held.Worker))
	}
	ago(time.Second)
	held.Grant.Until = r.renew(s, renewal(held, never)).Until
	ago(window + 2*skew)
	var lost *lease.Lost
	if _, err := s.Renew(r.context(), renewal(held, never)); !errors.As(err, &lost) || !lost.Expired || lost.Forgot {
		t.Errorf("renewal: %v, expected that others may have had the worker", err)
	}
	r.do("UPDATE pgflurry.namespace SET restart_quarantine = '0'")
	r.renew(s, renewal(held, never))
}

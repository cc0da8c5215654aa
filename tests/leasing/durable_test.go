package leasing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// ownServer makes a room on a cluster of its own.
func ownServer(t *testing.T, layout string) (*postgres.Cluster, *room) {
	t.Helper()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	server.Migrate(t, url, migrations.Settings{Layout: layout, DatabaseWorkers: 1})
	return cluster, enter(t, url)
}

// missingStandby makes commits wait for a standby that does not exist. The setting needs a moment: the checkpointer
// passes it on to the backends, and no query shows when it has read it.
func missingStandby(r *room) (back func()) {
	set := func(names string) {
		r.do("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'")
		r.do("SELECT pg_reload_conf()")
		r.until("SELECT current_setting('synchronous_standby_names') = $1", names)
	}
	set("missing")
	return func() { set("") }
}

const waitingForStandby = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' " +
	"AND pid <> pg_backend_pid()"

func TestInvariant1ACommitWhoseWaitForItsStandbyWasCancelledDoesNotCount(t *testing.T) {
	t.Parallel()
	_, r := ownServer(t, small)
	// only the keeper's own settings make commits of this role wait, and report a wait that was cancelled
	r.do("CREATE ROLE careless LOGIN SUPERUSER")
	r.do("ALTER ROLE careless SET synchronous_commit = off")
	r.do("ALTER ROLE careless SET client_min_messages = error")
	s := r.store(server.As(t, r.url, "careless", ""))
	a := r.acquire(s, "a")
	back := missingStandby(r)
	defer back()

	ctx, result := r.context(), make(chan error, 1)
	go func() {
		for { // the first commits may come before the setting is in force
			renewed, err := s.Renew(ctx, renewal(a, a.Grant.Until+1))
			if err != nil {
				result <- err
				return
			}
			a.Grant.Until = renewed.Until
		}
	}()
	r.until(waitingForStandby)
	r.until("SELECT bool_and(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	if err := <-result; err == nil || !strings.Contains(err.Error(), "canceling wait for synchronous replication") {
		t.Errorf("error %v, expected that the warning makes it unknown", err)
	}
	// the row has the mark, but the holder may not use it: a mark that was only read is not acknowledged
	if r.mark(a.Worker) <= a.Grant.Until {
		t.Error("the row was not written, so this proves nothing")
	}
	back()
	if got := r.renew(s, renewal(a, 0)); got.Until != r.mark(a.Worker) {
		t.Errorf("renewed until %d", got.Until)
	}
}

func TestAWaitForAStandbyEndsTheAttemptAtItsDeadlineAndCancelsNothing(t *testing.T) {
	t.Parallel()
	_, r := ownServer(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	back := missingStandby(r)
	defer back()
	whole := r.context()
	for _, attempt := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := s.Renew(ctx, renewal(a, never)); return err },
		func(ctx context.Context) error { _, err := s.Acquire(ctx, r.request("b")); return err },
	} {
		var err error
		for err == nil { // commits before the setting is in force
			ctx, cancel := context.WithTimeout(whole, 500*time.Millisecond)
			err = attempt(ctx)
			cancel()
		}
		if !strings.Contains(err.Error(), "outcome unknown") {
			t.Errorf("error %v, expected an unknown outcome", err)
		}
	}
	r.until("SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	ctx, cancel := context.WithTimeout(r.context(), time.Second)
	defer cancel()
	if _, err := s.Renew(ctx, renewal(a, never)); !errors.Is(err, lease.ErrBlocked) {
		t.Errorf("error %v, expected that the waiting commit still holds the row", err)
	}
}

func TestAServerKilledInTheMiddleIsUnknownAndWhatWasAcknowledgedIsThereAfterwards(t *testing.T) {
	t.Parallel()
	cluster, r := ownServer(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	a.Grant.Until = r.renew(s, renewal(a, never)).Until

	server.Crash(t, cluster)
	if _, err := s.Renew(r.context(), renewal(a, never)); err == nil || errors.As(err, new(*lease.Lost)) {
		t.Errorf("error %v, expected an unknown outcome", err)
	}
	server.Again(t, cluster.Data, cluster.Port)
	r.conn = server.Connect(t, r.url)
	if mark := r.mark(a.Worker); mark < a.Grant.Until {
		t.Errorf("the mark is %d after the crash, %d was acknowledged", mark, a.Grant.Until)
	}
	r.renew(s, renewal(a, never))
	s.Close()
	r.conn.Close(r.context())
}

func TestAFrozenServerIsUnknownAtTheDeadlineAndTheLeaseGoesOnAfterwards(t *testing.T) {
	t.Parallel()
	cluster, r := ownServer(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	thaw := server.Freeze(t, cluster)
	ctx, cancel := context.WithTimeout(r.context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Renew(ctx, renewal(a, never)); err == nil || errors.As(err, new(*lease.Lost)) {
		t.Errorf("error %v, expected an unknown outcome", err)
	}
	thaw()
	r.renew(s, renewal(a, never))
}

package database

import (
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// forgets makes a home lose the record of a worker that it gave away. So does a failover to an asynchronous standby, or
// an old backup.
func forgets(t testing.TB, home string, worker int) {
	t.Helper()
	conn := server.Connect(t, home)
	run(t, conn, "ALTER TABLE pgflurry.worker DISABLE TRIGGER USER")
	_, err := conn.Exec(within(t), `UPDATE pgflurry.worker
		SET owner = NULL, term = 0, node = NULL, address = NULL, acquired_at = NULL
		WHERE worker = $1`, worker)
	if err != nil {
		t.Fatal(err)
	}
	run(t, conn, "ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker")
}

func TestAHomeThatForgotAJoinIsToldByJoiningAgain(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: home})
	before := worker(t, joined)
	forgets(t, home, before)
	up(t, joined, migrations.Settings{JoinURL: home})
	next := server.Database(t)
	up(t, next, migrations.Settings{JoinURL: home})
	if worker(t, joined) != before || worker(t, next) != before+1 {
		t.Errorf("the functions have workers %d and %d, want %d and %d",
			worker(t, joined), worker(t, next), before, before+1)
	}
}

func TestADatabaseWhoseWorkerWasGivenAwayMeanwhileGetsAnotherByJoiningAgain(t *testing.T) {
	t.Parallel()
	home, joined, thief := server.Migrated(t), server.Database(t), server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: home})
	forgets(t, home, worker(t, joined))
	up(t, thief, migrations.Settings{JoinURL: home})
	if worker(t, joined) != worker(t, thief) {
		t.Fatal("both have workers of their own, so this proves nothing")
	}
	up(t, joined, migrations.Settings{JoinURL: home})
	up(t, joined, migrations.Settings{JoinURL: home}) // must change nothing
	if a, b := worker(t, joined), worker(t, thief); a != 2 || b != 1 {
		t.Errorf("the functions have workers %d and %d, want 2 and 1", a, b)
	}
}

func TestAClaimWhoseWaitForTheStandbyWasCancelledIsNotUsed(t *testing.T) {
	cluster := server.Private(t, nil)
	home := cluster.URL("postgres")
	up(t, home, migrations.Settings{})
	conn, joined := server.Connect(t, home), server.Database(t)
	const waiting = "SELECT count(pg_cancel_backend(pid)) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	run(t, conn, "ALTER SYSTEM SET synchronous_standby_names = missing")
	run(t, conn, "SELECT pg_reload_conf()")
	// only a commit that waits shows that the setting is in force
	other, seen, waited := server.Connect(t, home), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(waited)
		for {
			_, err := other.Exec(t.Context(), "CREATE TABLE written (); DROP TABLE written")
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case <-seen:
				return
			default:
			}
		}
	}()
	server.Eventually(t, conn, "("+waiting+")")
	close(seen)
	result := make(chan error, 1)
	go func() { result <- migrations.Up(t.Context(), joined, migrations.Settings{JoinURL: home}) }()
	var err error
	for both := 0; both < 2; {
		select {
		case err = <-result:
			both++
		case <-waited:
			waited = nil
			both++
		default:
			value[bool](t, conn, waiting) // cancels each wait
		}
	}
	says(t, err, "the outcome is unknown", "canceling wait for synchronous replication", "Run it again")
	run(t, conn, "ALTER SYSTEM RESET synchronous_standby_names")
	run(t, conn, "SELECT pg_reload_conf()")
	server.Eventually(t, conn, "current_setting('synchronous_standby_names') = ''")
	up(t, joined, migrations.Settings{JoinURL: home})
	if w := worker(t, joined); w != 2 {
		t.Errorf("the function has worker %d, want 2: the claim of worker 1 may be lost", w)
	}
}

func TestDownDoesNotTakeTheHomeFromDatabasesThatJoinedUnlessToldTo(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: home})
	says(t, down(t, home), "other databases have joined", server.Name(t, joined)+" (worker 1", "--leave-joined")
	if _, err := migrations.Down(within(t), home, true); err != nil {
		t.Fatal(err)
	}
	if w := worker(t, joined); w != 1 {
		t.Errorf("the joined function has worker %d", w)
	}
}

func TestADatabaseThatJoinsDoesNotTakeOverAQuarantineThatIsTooShortInTicks(t *testing.T) {
	t.Parallel()
	home, joined := server.Database(t), server.Database(t)
	up(t, home, migrations.Settings{Unit: 999 * time.Millisecond})
	conn := server.Connect(t, home)
	// as versions before the rule in ticks wrote it
	run(t, conn, "ALTER TABLE pgflurry.namespace "+
		"DROP CONSTRAINT IF EXISTS namespace_quarantine_outlives_a_window_in_ticks")
	run(t, conn, "UPDATE pgflurry.namespace SET max_window = '1 hour', quarantine = '1 hour 4 s'")
	up(t, joined, migrations.Settings{JoinURL: home})
	if !value[bool](t, server.Connect(t, joined), `SELECT max_window = '1 hour' AND pgflurry.ticks_of(quarantine)
		>= pgflurry.ticks_of(max_window) + 2 * pgflurry.ticks_of(skew) FROM pgflurry.namespace`) {
		t.Error("the quarantine does not outlive a window in ticks")
	}
}

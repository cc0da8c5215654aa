package database

import (
	"strings"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// copyOf copies a database on the same server, as CREATE DATABASE … TEMPLATE does.
func copyOf(t testing.TB, url string) string {
	t.Helper()
	return server.TemplateCopy(t, url, server.Name(t, url)+"_copy")
}

// drop drops a database, and ends all its sessions.
func drop(t testing.TB, url string) {
	t.Helper()
	server.Exec(t, server.In(t, url, "postgres"), "DROP DATABASE "+server.Name(t, url)+" WITH (FORCE)")
}

// worker draws an ID and returns the worker in it.
func worker(t testing.TB, url string) int {
	t.Helper()
	return value[int](t, server.Connect(t, url), "SELECT snowflake_worker(next_snowflake())")
}

func TestDecideInvariant3ACopyIsNoticedAndRefusedUntilSomebodySaysWhatItIs(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	copied := copyOf(t, original)
	why, is := row(t, copied).Copied()
	if !is || !strings.Contains(why, row(t, original).Database) {
		t.Errorf("copied: %v, %q", is, why)
	}
	says(t, migrations.Up(within(t), copied, migrations.Settings{}), "is a copy", "namespace join",
		"namespace separate")
	if why, is := row(t, original).Copied(); is {
		t.Errorf("the original is called a copy: %s", why)
	}
}

func TestACopyThatJoinsSharesTheSpaceWithAWorkerOfItsOwn(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	copied := copyOf(t, original)
	up(t, copied, migrations.Settings{JoinURL: original, Version: "test"})
	home, joined := row(t, original), row(t, copied)
	if joined.ID != home.ID || joined.FunctionWorker != 1 || !strings.HasSuffix(joined.Home, "/"+home.Database) {
		t.Errorf("joined: namespace %s, worker %d, home %q", joined.ID, joined.FunctionWorker, joined.Home)
	}
	if w := worker(t, copied); w != 1 {
		t.Errorf("the function of the copy uses worker %d, want 1", w)
	}
	if w := worker(t, original); w != 0 {
		t.Errorf("the function of the original uses worker %d, want 0", w)
	}
	conn := server.Connect(t, copied)
	if n := value[int](t, conn, "SELECT count(*) FROM pgflurry.worker WHERE retired_at IS NULL"); n > 0 {
		t.Errorf("%d workers could still be granted from the copy", n)
	}
	holder := value[string](t, server.Connect(t, original), "SELECT node FROM pgflurry.worker WHERE worker = 1")
	if holder != joined.Database {
		t.Errorf("worker 1 is registered for %q", holder)
	}
	up(t, copied, migrations.Settings{})
	up(t, copied, migrations.Settings{JoinURL: original})
	const claimed = "SELECT count(*) FROM pgflurry.worker WHERE kind = 'database' AND term > 0"
	if n := value[int](t, server.Connect(t, original), claimed); n != 2 {
		t.Errorf("%d workers are claimed after two more ups, want 2", n)
	}
}

func TestDecideInvariant2EachDatabaseThatJoinsTakesAWorkerThatNobodyHad(t *testing.T) {
	t.Parallel()
	original := server.MigratedWith(t, migrations.Settings{Layout: "javascript", DatabaseWorkers: 3, Epoch: epoch(t)})
	server.Exec(t, original, "UPDATE pgflurry.namespace SET max_window = '30 s', quarantine = '90 s'")
	first, second, third := server.Database(t), server.Database(t), server.Database(t)
	says(t, migrations.Up(within(t), first, migrations.Settings{JoinURL: original, Layout: "twitter"}),
		"has layout 41/0/6/6", "not 41/0/10/12", "takes the layout of its home")
	up(t, first, migrations.Settings{JoinURL: original})
	up(t, second, migrations.Settings{JoinURL: original})
	home, joined := row(t, original), row(t, second)
	if joined.ID != home.ID || joined.Layout.String() != "41/0/6/6" || !joined.Layout.Epoch.Equal(home.Layout.Epoch) ||
		joined.MaxWindow != home.MaxWindow || joined.Quarantine != home.Quarantine {
		t.Errorf("the home is %+v, the joined database %+v", home, joined)
	}
	up(t, original, migrations.Settings{MaxWindow: time.Hour})
	up(t, second, migrations.Settings{JoinURL: original})
	home, joined = row(t, original), row(t, second)
	if home.MaxWindow != time.Hour || joined.MaxWindow != time.Hour || joined.Quarantine != home.Quarantine {
		t.Errorf("joined again, its windows are %v and %v; the home's are %v and %v",
			joined.MaxWindow, joined.Quarantine, home.MaxWindow, home.Quarantine)
	}
	if worker(t, original) != 0 || worker(t, first) != 1 || worker(t, second) != 2 {
		t.Errorf("workers %d, %d, %d", worker(t, original), worker(t, first), worker(t, second))
	}
	if n := value[int](t, server.Connect(t, first), "SELECT count(*) FROM pgflurry.worker"); n != 0 {
		t.Errorf("a joined database has %d worker rows of its own", n)
	}
	says(t, migrations.Up(within(t), third, migrations.Settings{JoinURL: original}),
		"all 3 workers for database functions", "are taken: 0 "+home.Database+", 1 ")
	says(t, migrations.Up(within(t), third, migrations.Settings{JoinURL: first}), "has no worker rows, they are in",
		"Give the URL of its home")
	says(t, migrations.Up(within(t), original, migrations.Settings{JoinURL: original}), "is the home of namespace")
	says(t, migrations.Up(within(t), server.Migrated(t), migrations.Settings{JoinURL: original}),
		"belongs to namespace", "for good")
	says(t, migrations.Up(within(t), first, migrations.Settings{NewNamespace: true}), "is not a copy")
	if err := down(t, third); err != nil {
		t.Errorf("down after a join that failed: %v (%s)", err, hintOf(err))
	}
}

func TestACopyOfAJoinedDatabaseThatFoundsItsOwnSpaceStaysClearOfIDsItHolds(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: home})
	for name, source := range map[string]string{
		"a database that joined empty": joined,
		"a copy that joined": func() string {
			c := copyOf(t, home)
			up(t, c, migrations.Settings{JoinURL: home})
			return c
		}(),
	} {
		copied := copyOf(t, source)
		up(t, copied, migrations.Settings{NewNamespace: true})
		conn := server.Connect(t, copied)
		// as far as a renewal in the old home could have reached by now
		const raised = `SELECT count(*) FROM pgflurry.worker
			WHERE kind = 'proxy' AND retired_at IS NULL
				AND reserved_until > pgflurry.ticks(clock_timestamp() + interval '30 s')`
		if n := value[int](t, conn, raised); n != 1024-16 {
			t.Errorf("%s: %d workers are raised and can be granted, want %d", name, n, 1024-16)
		}
		if n := row(t, copied); n.Home != "" {
			t.Errorf("%s: its home is still %s", name, n.Home)
		}
	}
}

func TestANamespaceFoundedInACopyForgetsWhoHeldTheWorkersOfTheOldOneButNotTheirMarks(t *testing.T) {
	t.Parallel()
	original := server.MigratedWith(t, migrations.Settings{DatabaseWorkers: 2})
	up(t, server.Database(t), migrations.Settings{JoinURL: original})
	server.Exec(t, original, `UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 4, reserved_until = 123456,
		node = 'paris', address = 'a',
		version = 'v', acquired_at = now(), renewed_at = now(), retired_at = now() WHERE worker = 99;
		UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 5 WHERE worker = 99`)
	last := value[int64](t, server.Connect(t, original), "SELECT next_snowflake()")
	copied := copyOf(t, original)
	up(t, copied, migrations.Settings{NewNamespace: true})
	conn := server.Connect(t, copied)
	if row(t, copied).ID == row(t, original).ID {
		t.Error("the copy has the id of its original")
	}
	if id := value[int64](t, conn, "SELECT next_snowflake()"); id <= last {
		t.Errorf("ID %d follows %d of the original", id, last)
	}
	const held = "SELECT count(*) FROM pgflurry.worker_history"
	if there, here := value[int](t, conn, held), value[int](t, server.Connect(t, original), held); there != 0 ||
		here != 1 {
		t.Errorf("the copy remembers %d former holders, the original %d; expected none and one", there, here)
	}
	const notCleared = `SELECT w::text FROM pgflurry.worker AS w
		WHERE worker > 0 AND (node, address, version, acquired_at, renewed_at, retired_at)
			IS DISTINCT FROM (NULL, NULL, NULL, NULL, NULL, NULL)`
	if left := values[string](t, conn, notCleared); len(left) > 0 {
		t.Errorf("these are still what they were in the old space: %q", left)
	}
	if !value[bool](t, conn, `SELECT reserved_until = 123456 AND term > 5 FROM pgflurry.worker WHERE worker = 99`) {
		t.Error("the mark of worker 99 has not stayed, or its old holder could renew it")
	}
	listing, err := lease.List(within(t), conn, false)
	if err != nil || listing.Rows[1].Worker != 1 || listing.Rows[1].State != "released" ||
		listing.Rows[1].ReservedUntil == nil {
		t.Errorf("the worker of another database's function is listed as %+v, %v", listing.Rows[1], err)
	}

	// IDs of that function may be in the copy. So its worker becomes free only when its mark has passed, and the next
	// database gets the mark, too.
	another := server.Database(t)
	says(t, migrations.Up(within(t), another, migrations.Settings{JoinURL: copied}), "ahead of the clock",
		"Try again in ")
	run(t, conn, `ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
		UPDATE pgflurry.worker SET reserved_until = pgflurry.ticks(clock_timestamp()) WHERE worker = 1;
		ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker`)
	up(t, another, migrations.Settings{JoinURL: copied})
	joined := server.Connect(t, another)
	mark := value[int64](t, conn, "SELECT reserved_until FROM pgflurry.worker WHERE worker = 1 AND released_at IS NULL")
	if got := value[int64](t, joined, "SELECT last_value FROM pgflurry.mark"); got != mark || worker(t, another) != 1 {
		t.Errorf("the function has worker %d and the mark %d, want 1 and %d", worker(t, another), got, mark)
	}
	says(t, migrations.Up(within(t), server.Database(t), migrations.Settings{JoinURL: copied}),
		"all 2 workers", "for good")
}

func TestACopyThatTakesThePlaceOfItsOriginalWaitsForOldGrants(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	id := row(t, original).ID
	copied := copyOf(t, original)
	drop(t, original)
	up(t, copied, migrations.Settings{Moved: true})
	n := row(t, copied)
	now := value[int64](t, server.Connect(t, copied), "SELECT pgflurry.ticks(clock_timestamp())")
	if n.ID != id || n.AcquireAfter < now+100_000 {
		t.Errorf("namespace %s, the gate opens in %d ms", n.ID, n.AcquireAfter-now)
	}
	if ahead := value[int64](t, server.Connect(t, copied), "SELECT next_snowflake()")>>22 - now; ahead < 1900 {
		t.Errorf("the first ID is %d ms ahead of the clock, want about 2000", ahead)
	}
}

func TestACopyCannotTakeThePlaceOfAnOriginalThatIsStillOnTheServer(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	copied := copyOf(t, original)
	name := row(t, original).Database
	oid := value[string](t, server.Connect(t, original),
		"SELECT oid::text FROM pg_database WHERE datname = current_database()")
	says(t, migrations.Up(within(t), copied, migrations.Settings{Moved: true}),
		`its original, database "`+name+`" (oid `+oid+`), still exists on this server`, `Drop "`+name+`" first`,
		"namespace join", "separate")
	if _, is := row(t, copied).Copied(); !is {
		t.Error("the copy has taken the place of its original all the same")
	}

	// If the server does not report its identity, a database of another server may have the same OID. Then only a
	// database of the same name counts as the original.
	server.Exec(t, copied, "UPDATE pgflurry.namespace SET system_identifier = NULL")
	says(t, migrations.Up(within(t), copied, migrations.Settings{Moved: true}), "still exists")
	server.Exec(t, copied, "UPDATE pgflurry.namespace SET database_name = 'another'")
	destroyed := migrations.Settings{Moved: true, NoOtherDraws: true}
	says(t, migrations.Up(within(t), copied, migrations.Settings{Moved: true}), "--no-other-draws")
	says(t, migrations.Up(within(t), copied, destroyed), "is the home of namespace", "another copy has taken the place")
	drop(t, original)
	up(t, copied, destroyed)

	another := server.Migrated(t)
	restored := copyOf(t, another)
	drop(t, another)
	server.Exec(t, restored, "UPDATE pgflurry.namespace SET system_identifier = 1") // as if it came from another server
	up(t, restored, destroyed)
}

func TestTemporaryFunctionsEndNoAnswersAndAnotherNamespaceHasNone(t *testing.T) {
	t.Parallel()
	temporary := server.MigratedWith(t, all)
	anybody := server.Connect(t, role(t, temporary, "anybody"))
	run(t, anybody, `CREATE FUNCTION pg_temp.next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
		CREATE FUNCTION pg_temp.next_segment(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'`)
	here, err := namespace.Answerable(within(t), server.Connect(t, temporary), row(t, temporary).ID)
	if err != nil || !here.IDs.Permit("next_snowflake") || !here.Segments.Permit("next_segment") {
		t.Errorf("a function in a temporary schema, where PostgreSQL never looks, ends the answers: %+v, %+v, %v",
			here.IDs, here.Segments, err)
	}
	other, empty := server.Migrated(t), server.Database(t)
	for _, url := range []string{other, empty} {
		judged, err := namespace.Answerable(within(t), server.Connect(t, url), "00000000-0000-0000-0000-000000000000")
		names := len(judged.IDs.Names) + len(judged.Segments.Names) + len(judged.Others.Names)
		if err != nil || names > 0 || judged.IDs.Why == "" {
			t.Errorf("a database of another namespace or none: %+v, %v", judged, err)
		}
	}
}

package database

import (
	"bytes"
	_ "embed"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

//go:embed catalog.sql
var catalog string

func TestPrintGivesTheSameAsUp(t *testing.T) {
	t.Parallel()
	for _, s := range []migrations.Settings{
		{}, {Layout: "javascript", Unit: 10 * time.Millisecond, Epoch: epoch(t), DatabaseWorkers: 3},
	} {
		byUp, byPrint := server.MigratedWith(t, s), server.Database(t)
		var script bytes.Buffer
		if err := migrations.Print(&script, s); err != nil {
			t.Fatal(err)
		}
		server.Exec(t, byPrint, script.String())
		want := values[string](t, server.Connect(t, byUp), catalog)
		got := values[string](t, server.Connect(t, byPrint), catalog)
		if len(want) < 150 || !slices.Equal(got, want) {
			t.Errorf("print makes %d things, up %d", len(got), len(want))
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("first difference:\n%s\n%s", got[i], want[i])
					break
				}
			}
		}
		state, err := migrations.Status(within(t), byPrint)
		if err != nil || state.Pending() || state.Unchecked != "" {
			t.Errorf("status of a printed schema: %+v, %v", state, err)
		}
		up(t, byPrint, migrations.Settings{})
		if after := values[string](t, server.Connect(t, byPrint), catalog); !slices.Equal(after, want) {
			t.Error("an up after print changes something")
		}
	}
}

func TestSessionInvariant1SeveralUpsAtOnceMakeOneNamespace(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	var ups sync.WaitGroup
	failures := make(chan error, 8)
	for range cap(failures) {
		ups.Go(func() { failures <- migrations.Up(within(t), url, migrations.Settings{}) })
	}
	ups.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Error(err)
		}
	}
	conn := server.Connect(t, url)
	if n := value[int](t, conn, "SELECT count(*) - count(DISTINCT number) FROM pgflurry.migration"); n != 0 {
		t.Errorf("%d migrations were applied a second time", n)
	}
	if held := value[int](t, conn, "SELECT count(*) FROM pgflurry.worker WHERE term > 0"); held != 1 {
		t.Errorf("%d workers are claimed, want 1", held)
	}
	run(t, conn, "SELECT next_snowflake()")
}

func TestMigrationInvariant1DownRemovesAllUpDownUp(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn := server.Connect(t, url)
	before := value[int](t, conn, "SELECT count(*) FROM pg_class") + value[int](t, conn, "SELECT count(*) FROM pg_proc")
	for range 2 {
		up(t, url, migrations.Settings{Layout: "javascript"})
		if err := down(t, url); err != nil {
			t.Fatalf("%v (%s)", err, hintOf(err))
		}
		after := value[int](t, conn, "SELECT count(*) FROM pg_class") +
			value[int](t, conn, "SELECT count(*) FROM pg_proc")
		if after != before {
			t.Errorf("%d things are left behind", after-before)
		}
	}
	if removed, err := migrations.Down(within(t), url, false); removed || err != nil {
		t.Errorf("down of nothing has removed something: %v, %v", removed, err)
	}
}

func TestAnInterruptedUpGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	whole := values[string](t, server.Connect(t, server.Migrated(t)), catalog)
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	// as if Up had stopped before it made the functions and the row
	run(t, conn, `ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER; ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
		DELETE FROM pgflurry.namespace; DELETE FROM pgflurry.worker;
		ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace;
		ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace_truncate;
		ALTER TABLE pgflurry.worker ENABLE TRIGGER remember_holder;
		ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker;
		ALTER TABLE pgflurry.worker ENABLE ALWAYS TRIGGER guard_worker_truncate;
		DROP FUNCTION public.next_snowflake(), public.next_snowflakes(bigint), pgflurry.advance(bigint),
			pgflurry.advance_slowly(bigint), pgflurry.system_identifier();
		DROP SEQUENCE pgflurry.lane`)
	if _, err := namespace.Read(within(t), conn); !errors.As(err, new(*namespace.NotMigratedError)) {
		t.Errorf("reading half a namespace: %v", err)
	}
	up(t, url, migrations.Settings{})
	if got := values[string](t, conn, catalog); !slices.Equal(got, whole) {
		t.Error("the result is not that of an up that ran through")
	}
}

func TestUpRepairsFunctionsAndStatusSaysWhichAreNotRight(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	before := value[int64](t, conn, "SELECT next_snowflake()")
	run(t, conn, `DO $$ BEGIN EXECUTE regexp_replace(pg_get_functiondef('next_snowflake()'::regprocedure),
		'RETURN [^;]*;', 'RETURN 1;'); END $$;
		DROP FUNCTION public.snowflake_ceil(timestamptz), pgflurry.ticks(timestamptz)`)
	state, err := migrations.Status(within(t), url)
	want := []migrations.Function{
		{Name: "pgflurry.ticks(timestamp with time zone)", State: "missing"},
		{Name: "public.next_snowflake()", State: "changed"},
		{Name: "public.snowflake_ceil(timestamp with time zone)", State: "missing"},
	}
	if err != nil || !slices.Equal(state.Functions, want) {
		t.Errorf("status: %+v, %v", state.Functions, err)
	}
	if value[int64](t, conn, "SELECT next_snowflake()") != 1 {
		t.Error("status has changed a function")
	}
	up(t, url, migrations.Settings{})
	if after := value[int64](t, conn, "SELECT next_snowflake()"); after <= before {
		t.Errorf("after the repair ID %d follows %d", after, before)
	}
	if state, err := migrations.Status(within(t), url); err != nil || state.Pending() {
		t.Errorf("after the repair: %+v, %v", state, err)
	}
}

func TestStatusSeesAChangeOfEveryFunctionThatLivesInPublic(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	family := values[string](t, conn,
		"SELECT to_regprocedure('public.' || function)::text FROM pgflurry.snowflake_family() ORDER BY 1")
	var want []migrations.Function
	for _, name := range family {
		run(t, conn, "COMMENT ON FUNCTION "+name+" IS 'changed'")
		want = append(want, migrations.Function{Name: "public." + name, State: "changed"})
	}
	state, err := migrations.Status(within(t), url)
	if err != nil || len(want) == 0 || !slices.Equal(state.Functions, want) {
		t.Errorf("status: %+v, %v; want %+v", state.Functions, err, want)
	}
}

func TestDecideInvariant1ALayoutCannotChange(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, migrations.Settings{Layout: "datacenter"})
	id := row(t, url).ID
	for _, s := range []migrations.Settings{
		{}, {Layout: "41/5/5/12"}, {Unit: time.Millisecond}, {DatabaseWorkers: 16},
	} {
		up(t, url, s)
	}
	for _, s := range []migrations.Settings{{Layout: "twitter"}, {Unit: 2 * time.Millisecond}, {Epoch: epoch(t)}} {
		says(t, migrations.Up(within(t), url, s), "has layout 41/5/5/12, epoch 2024-01-01 00:00:00, unit 1 ms, not ",
			"A layout cannot change")
	}
	says(t, migrations.Up(within(t), url, migrations.Settings{DatabaseWorkers: 4}), "keeps 16", "not 4")
	if row(t, url).ID != id {
		t.Error("the namespace has another id")
	}
}

func TestWhatCannotBeRightIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	for text, s := range map[string]migrations.Settings{
		"63":                  {Layout: "43/0/10/12"},
		"neither":             {Layout: "large"},
		"still to come":       {Epoch: time.Now().Add(time.Hour).Truncate(time.Millisecond)},
		"less than a day ago": {Epoch: time.Now().Add(-23 * time.Hour).Truncate(time.Millisecond)},
		"year left":           {Layout: "28/0/10/12"},
		"has 64 workers":      {Layout: "javascript", DatabaseWorkers: 64},
	} {
		says(t, migrations.Up(within(t), url, s), text)
	}
	var young strings.Builder // the printed text knows only the server's clock
	hour := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	if err := migrations.Print(&young, migrations.Settings{Epoch: hour}); err != nil {
		t.Fatal(err)
	}
	says(t, refused(t, server.Connect(t, url), "22023", young.String()), "is less than a day ago", "an earlier epoch")
	says(t, migrations.Up(within(t), url, migrations.Settings{NewNamespace: true, Moved: true}), "Choose one")
	says(t, migrations.Up(within(t), url, migrations.Settings{Moved: true}), "no namespace yet")
	server.Exec(t, url, "CREATE FUNCTION public.next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'")
	says(t, migrations.Up(within(t), url, migrations.Settings{}), "there is a function public.next_snowflake() already",
		"Rename or drop it")
}

func TestAnOwnerWithoutSuperuserIsEnough(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	owner := role(t, url, "only_owner")
	name := server.Name(t, url)
	says(t, migrations.Up(within(t), owner, migrations.Settings{}), "may not create schema pgflurry",
		`GRANT CREATE ON DATABASE "`+name+`" TO "only_owner";`)
	server.Exec(t, url, "GRANT CREATE ON DATABASE "+name+" TO only_owner")
	says(t, migrations.Up(within(t), owner, migrations.Settings{}), "may not create next_snowflake() in schema public",
		`GRANT CREATE ON SCHEMA public TO "only_owner";`)
	server.Exec(t, url,
		"REVOKE CREATE ON DATABASE "+name+" FROM only_owner; ALTER DATABASE "+name+" OWNER TO only_owner")
	t.Cleanup(func() { server.Exec(t, url, "ALTER DATABASE "+name+" OWNER TO CURRENT_USER") })
	up(t, owner, migrations.Settings{})
	conn := server.Connect(t, owner)
	run(t, conn, "SELECT next_snowflake(); SELECT setval('pgflurry.lane', 2097152); SELECT next_snowflake()")
	state, err := migrations.Status(within(t), owner)
	if err != nil || state.Pending() || state.Unchecked != "" {
		t.Errorf("status as the owner: %+v, %v", state, err)
	}
	// a clone that a superuser has made: the owner may make functions there, and not replace this one
	server.Exec(t, url, cloned+`; GRANT CREATE ON SCHEMA "Tenant-1" TO only_owner`)
	up(t, owner, migrations.Settings{})
	server.Exec(t, url, `DROP SCHEMA "Tenant-1" CASCADE`)
	stranger := role(t, url, "no_owner")
	server.Exec(t, url, "GRANT CREATE ON SCHEMA public TO no_owner")
	says(t, migrations.Up(within(t), stranger, migrations.Settings{}), `belongs to role "only_owner"`)
	_, err = migrations.Status(within(t), stranger)
	says(t, err, `role "no_owner" may not read`, "CALL pgflurry.grant_lease('no_owner');")
	server.Exec(t, url, `GRANT USAGE ON SCHEMA pgflurry TO no_owner;
		GRANT SELECT, UPDATE ON pgflurry.namespace, pgflurry.worker TO no_owner`)
	_, err = migrations.Status(within(t), stranger)
	says(t, err, "which migrations were applied", "CALL pgflurry.grant_lease('no_owner');")
	run(t, conn, "SELECT setval('pgflurry.mark', 0)")
	if err := down(t, owner); err != nil {
		t.Errorf("down as the owner: %v (%s)", err, hintOf(err))
	}
}

// A trigger stands for the full disk: only the functions need room there.
func TestTheStateOfADatabaseWhoseDiskIsFullIsShownWithoutItsFunctions(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, `CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
		CREATE EVENT TRIGGER full_disk ON ddl_command_start EXECUTE FUNCTION full_disk()`)
	state, err := migrations.Status(within(t), url)
	if err != nil || state.Namespace == nil || state.Unchecked != "could not extend file: No space left on device" {
		t.Errorf("%v; namespace %v, functions unchecked: %q", err, state.Namespace, state.Unchecked)
	}
}

func TestMigrationInvariant1DownRefusesWhileSomethingUsesAFunction(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	run(t, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake(),
		at timestamptz GENERATED ALWAYS AS (snowflake_time(id)) STORED);
		CREATE VIEW recent AS SELECT * FROM item WHERE id > snowflake_floor(now());
		CREATE INDEX by_worker ON item (snowflake_worker(id));
		CREATE VIEW proxies AS SELECT worker FROM pgflurry.worker;
		CREATE FUNCTION known() RETURNS bigint RETURN next_snowflake();
		CREATE FUNCTION hidden() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN next_snowflake(); END'`)
	err := down(t, url)
	says(t, err, "default value for column id of table public.item", "default value for column at of table public.item",
		"view public.recent", "index public.by_worker", "view public.proxies", "function public.known()",
		"function public.hidden()", "CASCADE")
	if n := strings.Count(err.Error(), "\n"); n != 7 {
		t.Errorf("%d things are listed, want 7:\n%v", n, err)
	}
	run(t, conn, "DROP VIEW recent, proxies; DROP FUNCTION known, hidden; DROP TABLE item")
	if err := down(t, url); err != nil {
		t.Errorf("%v (%s)", err, hintOf(err))
	}
}

func TestMigrationInvariant1DownRefusesWhileIDsMayBeAheadOfTheClock(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	run(t, conn, `UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 1, node = 'paris',
		reserved_until = pgflurry.ticks(clock_timestamp() - interval '100 s') WHERE worker = 700`)
	says(t, down(t, url), "try again in ", "worker 700 (paris): ", "Stop all proxies")
	run(t, conn, `ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
		UPDATE pgflurry.worker SET reserved_until = 1 WHERE worker = 700`)
	run(t, conn, "SELECT next_snowflake()")
	says(t, down(t, url), "try again in ", "next_snowflake() of this database: ")
	run(t, conn, "SELECT setval('pgflurry.mark', pgflurry.ticks(clock_timestamp()))")
	if err := down(t, url); err != nil {
		t.Errorf("%v (%s)", err, hintOf(err))
	}
}

func TestDownAfterAReseedFitsOnAScreen(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	store := lease.NewPostgres(&conn.Config().Config, connect.Rules{})
	defer store.Close()
	if _, err := store.Reseed(within(t)); err != nil {
		t.Fatal(err)
	}
	err := down(t, url)
	says(t, err, "try again in ", "1008 workers from 16 to 1023: ")
	if n := strings.Count(err.Error(), "\n"); n != 1 {
		t.Errorf("%d lines for workers that all have the same time left", n)
	}
	run(t, conn, "UPDATE pgflurry.worker SET reserved_until = reserved_until + 60000 * worker WHERE worker > 1000")
	err = down(t, url)
	says(t, err, "worker 1023: 17h", "and 1000 more, for less")
	if n := strings.Count(err.Error(), "\n"); n != 9 {
		t.Errorf("%d lines, want 9", n)
	}
}

func TestWhatUpSaysWithoutAComparisonIsWhatStatusFindsByOne(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	server.Exec(t, url, "CREATE FUNCTION public.snowflake_text(text) RETURNS text LANGUAGE sql AS 'SELECT $1'")
	said, err := migrations.UpState(within(t), url, migrations.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := migrations.Status(within(t), url)
	if err != nil || len(found.Kept) != 1 {
		t.Fatalf("%+v, %v; expected one name that is not pgflurry's", found, err)
	}
	said.Left = found.Left // time goes on between the two
	if !reflect.DeepEqual(said, found) {
		t.Errorf("said %+v\nfound %+v", said, found)
	}
}

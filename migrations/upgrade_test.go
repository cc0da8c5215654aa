package migrations_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// later is the migration of a future program.
func later(files map[string]string) fstest.MapFS {
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

const (
	color = "ALTER TABLE pgflurry.worker ADD COLUMN color text;\n\n-- Down\nALTER TABLE pgflurry.worker " +
		"DROP COLUMN color;\n"
	size   = "CREATE TABLE pgflurry.size (n int);\n\n-- Down\nDROP TABLE pgflurry.size;\n"
	broken = "CREATE TABLE pgflurry.size (n int); SELECT 1/0;\n\n-- Down\nDROP TABLE pgflurry.size;\n"
)

// kept is the data that no migration may change.
const kept = `SELECT n::text FROM pgflurry.namespace n
	UNION ALL SELECT (worker, kind, owner, term, reserved_until, node)::text FROM pgflurry.worker
	UNION ALL SELECT s::text FROM pgflurry.segment s UNION ALL SELECT c::text FROM pgflurry.counter c
	UNION ALL SELECT 'item ' || id FROM item
	UNION ALL SELECT number || ' ' || applied_at FROM pgflurry.migration WHERE number = 1 ORDER BY 1`

func TestMigrationInvariant4ALaterMigrationKeepsNamespaceWorkersAndIDs(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY);
		CREATE INDEX ON item (snowflake_worker(id)); INSERT INTO item DEFAULT VALUES;
		UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 1, node = 'paris', reserved_until = 12345
			WHERE worker = 700;
		INSERT INTO pgflurry.segment (biz_tag, max_id) VALUES ('order', 5000); SELECT pgflurry.incr('visits');
		REVOKE EXECUTE ON FUNCTION public.snowflake_ceil(timestamptz) FROM PUBLIC`)
	before, last := server.Values[string](t, conn, kept), server.Value[int64](t, conn, "SELECT max(id) FROM item")
	program := later(map[string]string{"00002_color.sql": color})
	if err := migrations.UpOfALaterProgram(server.Within(t), url, program); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
	if after := server.Values[string](t, conn, kept); !slices.Equal(after, before) {
		t.Errorf("the migration has changed what was there:\n%q\n%q", before, after)
	}
	server.Do(t, conn, "SELECT color FROM pgflurry.worker; INSERT INTO item DEFAULT VALUES")
	if next := server.Value[int64](t, conn, "SELECT max(id) FROM item"); next <= last {
		t.Errorf("ID %d follows %d", next, last)
	}
	plain := server.Connect(t, server.Role(t, url, "plain_upgraded"))
	server.Refused(t, plain, "42501", "SELECT snowflake_ceil(now())") // a revoked right stays revoked
	err := migrations.Up(server.Within(t), url, migrations.Settings{})
	if newer := new(namespace.NewerError); !errors.As(err, &newer) || newer.Revision != namespace.Revision+1 {
		t.Errorf("the program that is older now: %v", err)
	}
}

func TestThePrintOfALaterProgramIsTheUpgradeAndThatOfAnEarlierOneLeavesItAlone(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY); "+
		"INSERT INTO item DEFAULT VALUES")
	before, last := server.Values[string](t, conn, kept), server.Value[int64](t, conn, "SELECT max(id) FROM item")
	next := namespace.Revision + 1
	text, err := migrations.PrintOfALaterProgram(later(map[string]string{fmt.Sprintf("%05d_color.sql", next): color}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		server.Do(t, conn, text)
	}
	var earlier strings.Builder
	if err := migrations.Print(&earlier, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	server.Do(t, conn, earlier.String())
	if revision := server.Value[int](t, conn, "SELECT pgflurry.revision()"); revision != next {
		t.Errorf("the schema is of revision %d, want %d", revision, next)
	}
	if after := server.Values[string](t, conn, kept); !slices.Equal(after, before) {
		t.Errorf("the migration has changed what was there:\n%q\n%q", before, after)
	}
	server.Do(t, conn, "SELECT color FROM pgflurry.worker; INSERT INTO item DEFAULT VALUES")
	if id := server.Value[int64](t, conn, "SELECT max(id) FROM item"); id <= last {
		t.Errorf("ID %d follows %d", id, last)
	}
}

func TestMigrationInvariant1DownTakesLaterMigrationsBackTheLastOneFirst(t *testing.T) {
	url := server.Database(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE taken_back (place serial, version int)")
	const note = "INSERT INTO public.taken_back (version) VALUES (%d);\n"
	program := later(map[string]string{
		"00002_color.sql": color + fmt.Sprintf(note, 2),
		// depends on the one before, and keeps it from being reverted
		"00003_colors.sql": "CREATE VIEW pgflurry.colors AS SELECT color FROM pgflurry.worker;\n\n-- Down\n" +
			"DROP VIEW pgflurry.colors;\n" + fmt.Sprintf(note, 3),
		"00004_functions.sql": "-- Functions alone change.\n\n-- Down\n-- There is nothing to take back.\n",
	})
	for round := range 2 {
		if err := migrations.UpOfALaterProgram(server.Within(t), url, program); err != nil {
			t.Fatalf("%v (%s)", err, server.Hint(err))
		}
		if last := server.Value[int](t, conn, "SELECT pgflurry.revision()"); last != 4 {
			t.Errorf("revision %d, expected 4: that of the migration that only has a number", last)
		}
		if removed, err := migrations.Down(server.Within(t), url, false); removed || err == nil {
			t.Errorf("the down of an older program: %v, %v", removed, err)
		}
		if removed, err := migrations.DownOfALaterProgram(server.Within(t), url, program); !removed || err != nil {
			t.Fatalf("down: %v, %v (%s)", removed, err, server.Hint(err))
		}
		order := server.Values[int](t, conn, "SELECT version FROM taken_back ORDER BY place")
		if want := slices.Repeat([]int{3, 2}, round+1); !slices.Equal(order, want) {
			t.Errorf("taken back in the order %d, expected %d", order, want)
		}
	}
}

func TestUpAndDownNeedOneConnectionOfAPooler(t *testing.T) {
	url := server.Pooler(t, server.Database(t), 1, "pool_mode = session", "query_wait_timeout = 5")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
	if removed, err := migrations.Down(server.Within(t), url, false); !removed || err != nil {
		t.Errorf("down: %v, %v (%s)", removed, err, server.Hint(err))
	}
}

func TestMigrationInvariant3AnUpThatHasWaitedLooksAgainForALaterRevision(t *testing.T) {
	url := server.Database(t)
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	conn := server.Connect(t, url)
	server.Do(t, conn, "SELECT pg_advisory_lock($1)", migrations.LockKey)
	done := make(chan error, 1)
	go func() { done <- migrations.Up(server.Within(t), url, migrations.Settings{}) }()
	server.Blocked(t, conn, 1)
	server.Do(t, conn, "CREATE OR REPLACE FUNCTION pgflurry.revision() RETURNS integer LANGUAGE sql "+
		"IMMUTABLE PARALLEL SAFE AS 'SELECT 99'")
	server.Do(t, conn, "SELECT pg_advisory_unlock($1)", migrations.LockKey)
	if err := <-done; !errors.As(err, new(*namespace.NewerError)) {
		t.Errorf("up says %v; expected that the schema is of a later revision", err)
	}
}

func TestAMigrationLeavesNothingInASessionThatAPoolerGivesToOthers(t *testing.T) {
	url := server.Database(t)
	pooled := server.Pooler(t, url, 1)
	server.Exec(t, url, "CREATE TABLE orders ()")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Status(server.Within(t), pooled+"&default_query_exec_mode=simple_protocol"); err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(pooled)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(server.Within(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	server.Do(t, conn, "SELECT FROM orders")
	const locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' " +
		"AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
	if n := server.Value[int](t, conn, locks); n != 0 {
		t.Errorf("%d advisory locks are left", n)
	}
}

func TestMigrationInvariant4AnUpGoesOnWithTheMigrationThatFailed(t *testing.T) {
	url := server.Database(t)
	conn := server.Connect(t, url)
	program := map[string]string{"00002_color.sql": color, "00003_size.sql": broken}
	for range 2 {
		err := migrations.UpOfALaterProgram(server.Within(t), url, later(program))
		server.Says(t, err, "applying 00003_size.sql: division by zero")
		applied := server.Values[int](t, conn, "SELECT number FROM pgflurry.migration ORDER BY 1")
		if !slices.Equal(applied, []int{1, 2}) {
			t.Errorf("applied are %d", applied)
		}
		if server.Value[bool](t, conn, "SELECT to_regclass('pgflurry.size') IS NOT NULL") {
			t.Error("half of the migration that failed stays")
		}
	}
	program["00003_size.sql"] = size
	if err := migrations.UpOfALaterProgram(server.Within(t), url, later(program)); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
	server.Do(t, conn, "SELECT n FROM pgflurry.size; SELECT next_snowflake()")
}

func TestMigrationInvariant4AnUpThatCannotLockATableSaysSoInsteadOfHoldingRenewalsUp(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	program := later(map[string]string{"00002_color.sql": "SET LOCAL lock_timeout = '1s';\n" + color})
	server.Do(t, conn, "BEGIN; SELECT FROM pgflurry.worker LIMIT 1") // as a dump does
	err := migrations.UpOfALaterProgram(server.Within(t), url, program)
	server.Says(t, err, "applying 00002_color.sql", "Run the same again")
	server.Do(t, conn, "COMMIT")
	if err := migrations.UpOfALaterProgram(server.Within(t), url, program); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
}

func TestASchemaFromBeforeTheFirstMigrationIsRefusedInASentence(t *testing.T) {
	url := server.Database(t)
	server.Exec(t, url, "CREATE SCHEMA pgflurry; CREATE TABLE pgflurry.namespace (); CREATE TABLE pgflurry.migration "+
		"(version integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()); "+
		"INSERT INTO pgflurry.migration SELECT generate_series(1, 7)")
	_, status := migrations.Status(server.Within(t), url)
	for did, err := range map[string]error{
		"up": migrations.Up(server.Within(t), url, migrations.Settings{}), "status": status,
	} {
		if err == nil || !strings.Contains(err.Error(), "from before the first migration of this one") ||
			fault.KindOf(err) != fault.NotInPlace || server.Hint(err) == "" {
			t.Errorf("%s: %v (%s)", did, err, server.Hint(err))
		}
	}
	var text strings.Builder
	if err := migrations.Print(&text, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	server.Refused(t, server.Connect(t, url), "55000", text.String())
}

package database

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestAClosedDatabaseGivesNothingMoreWhateverSnapshotAStatementHas(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, all)
	conn, old, bulk := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	run(t, conn, `INSERT INTO pgflurry.auto_increment (name) VALUES ('a'); SELECT next_segment('leaf-segment-test');
		CREATE TABLE held (token bigint); INSERT INTO held SELECT issue_token('1 hour')`)
	run(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT next_snowflake()")
	mark := value[int64](t, conn, "SELECT last_value FROM pgflurry.mark")
	broken := make(chan error, 1)
	go func() {
		// One long series would be written to disk before the first draw.
		_, err := bulk.Exec(server.Within(t), "SELECT max(next_snowflake()) "+
			"FROM generate_series(1, 10000) AS a, generate_series(1, 10000) AS b")
		broken <- err
	}()
	server.Eventually(t, conn, fmt.Sprintf("(SELECT last_value > %d FROM pgflurry.mark)", mark)) // it draws
	run(t, conn, "CALL pgflurry.close_database()")
	var said *pgconn.PgError
	if err := <-broken; !errors.As(err, &said) || said.Code != "SNF04" || said.Hint == "" {
		t.Errorf("a statement that was drawing ended with %v", err)
	}
	if _, err := old.Exec(server.Within(t), "SELECT next_snowflake()"); !errors.As(err, &said) || said.Code != "SNF04" {
		t.Errorf("a transaction with a snapshot of before: %v", err)
	}
	for _, statement := range []string{
		"SELECT next_snowflake()", "SELECT next_segment('leaf-segment-test')", "SELECT next_auto_increment('a')",
		"SELECT next_replace_id('a')", "SELECT incr('a')", "SELECT issue_token('1 hour')",
		"SELECT redeem_token(token) FROM held", "SELECT try_lock('a', 'me', '1 hour')",
		"UPDATE pgflurry.worker SET reserved_until = reserved_until + 1 WHERE worker = 99",
	} {
		refused(t, server.Connect(t, url), "SNF04", statement)
	}
	run(t, conn, "SELECT setval('pgflurry.closed', 0, false)") // as the restore of an old dump does
	refused(t, server.Connect(t, url), "SNF04", "SELECT next_snowflake()")
	// Draws of a closed database cannot push the counter into a tick that nobody set.
	for range 3 {
		refused(t, conn, "SNF04", "SELECT next_snowflake()")
	}
	up(t, url, migrations.Settings{})
	refused(t, conn, "SNF04", "SELECT next_snowflake()")
}

func TestADatabaseStaysClosedAfterACrashAndGivesLargerIDsWhenItIsTakenBack(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	last := server.Value[int64](t, server.Connect(t, url), "SELECT next_snowflake()")
	server.Exec(t, url, "CALL pgflurry.close_database()")
	server.Crash(t, cluster)
	url = server.Again(t, cluster.Data, 0).URL("postgres")
	conn := server.Connect(t, url)
	refused(t, conn, "SNF04", "SELECT next_snowflake()")

	up(t, url, migrations.Settings{Moved: true, NoOtherDraws: true})
	if !server.Value[bool](t, conn,
		"SELECT acquire_after > pgflurry.ticks(clock_timestamp()) FROM pgflurry.namespace") {
		t.Error("the gate is open")
	}
	if first := server.Value[int64](t, conn, "SELECT next_snowflake()"); first <= last {
		t.Errorf("ID %d follows %d", first, last)
	}
}

func TestADatabaseDrawsAgainOnlyWhenItsRowSaysForSureThatItIsOpen(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, "CALL pgflurry.close_database(); CALL pgflurry.identify()")
	refused(t, conn, "SNF04", "SELECT next_snowflake()") // the row first, the sequence in a transaction of its own
	run(t, conn, "CALL pgflurry.end_closing()")
	run(t, conn, "SELECT next_snowflake()")
}

// A subscription of PostgreSQL 19 to all sequences of a closed database does this.
func TestAForeignWordInTheSequenceClosesNothing(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, "SELECT next_snowflake(); SELECT setval('pgflurry.closed', 12345); SELECT setval('pgflurry.lane', x)"+
		" FROM (SELECT seqstart FROM pg_sequence WHERE seqrelid = 'pgflurry.lane'::regclass) AS s (x)")
	run(t, conn, "SELECT next_snowflake()") // it starts a tick, so it asks
	// Nor does it open a closed one.
	run(t, conn, "CALL pgflurry.close_database(); SELECT setval('pgflurry.closed', 0)")
	refused(t, conn, "SNF04", "SELECT next_snowflake()")
}

func TestACopyIsNotClosedAndItsOriginalIs(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, "CALL pgflurry.close_database()")
	copied := copyOf(t, url)
	conn := server.Connect(t, copied)
	refused(t, conn, "SNF03", "SELECT next_snowflake()")
	refused(t, conn, "55000", "CALL pgflurry.close_database()")
	run(t, conn, "CALL pgflurry.new_namespace()")
	run(t, server.Connect(t, copied), "SELECT next_snowflake()")
	refused(t, server.Connect(t, url), "SNF04", "SELECT next_snowflake()")
}

// ANALYZE, VACUUM and the like in a long transaction once held the tables that draws locked.
func TestNothingThatMaintainsTablesStopsADraw(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	maintainer, conn := server.Connect(t, url), server.Connect(t, url)
	run(t, conn, "SET statement_timeout = '20 s'")
	for _, statement := range []string{
		"ANALYZE", "GRANT SELECT ON ALL TABLES IN SCHEMA pgflurry TO PUBLIC", "REINDEX SCHEMA pgflurry",
		"CREATE PUBLICATION everything FOR ALL TABLES", "SELECT count(*) FROM pgflurry.function_lock",
	} {
		if strings.HasPrefix(statement, "REINDEX") {
			run(t, maintainer, statement)
		} else {
			run(t, maintainer, "BEGIN; "+statement)
		}
		run(t, conn, "SELECT next_snowflake() FROM generate_series(1, 10000)") // some of them start ticks
		if !strings.HasPrefix(statement, "REINDEX") {
			run(t, maintainer, "ROLLBACK")
		}
	}
}

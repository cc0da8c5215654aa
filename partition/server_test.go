package partition

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/outcome"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// monthly are settings for a table.
func monthly(table string) Settings {
	return Settings{Table: table, Every: "month", Ahead: 2, Zone: "UTC", Patience: server.Patience}
}

// attempt is one run of the command, in a session of its own. before is called before each statement.
func attempt(t *testing.T, url string, s Settings, before func(*pgx.Conn, string)) error {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(server.Within(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ended := conn.PgConn().PID()
		_ = conn.Close(context.WithoutCancel(t.Context()))
		other := server.Connect(t, url)
		server.Eventually(t, other, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", ended)
	}()
	facts, err := Look(server.Within(t), conn, s, true)
	if err != nil {
		return err
	}
	r := Runner{Conn: conn, Drop: true, Done: func(Step) {}, before: func(statement string) {
		if before != nil {
			before(conn, statement)
		}
	}}
	return r.Run(server.Within(t), facts.Plan())
}

// maintained is an attempt that succeeds.
func maintained(t *testing.T, url string, s Settings) {
	t.Helper()
	if err := attempt(t, url, s, nil); err != nil {
		t.Fatalf("%v\nhint: %s", err, server.Hint(err))
	}
}

// ranges are the ranges of the partitions, in order.
func ranges(t *testing.T, conn *pgx.Conn, table string) []string {
	t.Helper()
	return server.Values[string](t, conn, `SELECT format('%s %s %s', replace(c.relname, $1, 'T'),
			pg_get_expr(c.relpartbound, c.oid), CASE WHEN i.inhdetachpending THEN 'pending' END)
		FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass
		ORDER BY pg_get_expr(c.relpartbound, c.oid) NOT LIKE '%MINVALUE%', 1`, table)
}

// aged makes a table with a partition for old keys, three old months, a row in each of the four, and nothing else.
func aged(t *testing.T, conn *pgx.Conn, table string) {
	t.Helper()
	server.Do(t, conn, fmt.Sprintf("CREATE TABLE %s (id bigint DEFAULT next_snowflake() PRIMARY KEY, note text) "+
		"PARTITION BY RANGE (id)", table))
	bound := "MINVALUE"
	for month := 4; month >= 1; month-- { // the first is that of old keys
		const at = "SELECT snowflake_floor(date_trunc('month', now(), 'UTC') - $1 * interval '1 month')"
		end := server.Value[int64](t, conn, at, month)
		server.Do(t, conn, fmt.Sprintf("CREATE TABLE %[1]s_%[2]d PARTITION OF %[1]s "+
			"FOR VALUES FROM (%[3]s) TO (%[4]d); INSERT INTO %[1]s VALUES (%[4]d - 1)", table, month, bound, end))
		bound = fmt.Sprint(end)
	}
}

func TestInvariant2ARunThatEndsBetweenAnyTwoStatementsIsCompletedByTheNext(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	keeping := func(table string) Settings {
		s := monthly(table)
		s.Ahead, s.Keep = 1, 1
		return s
	}
	aged(t, conn, "whole")
	var statements []string
	if err := attempt(t, url, keeping("whole"), func(_ *pgx.Conn, statement string) {
		statements = append(statements, statement)
	}); err != nil {
		t.Fatal(err)
	}
	want := ranges(t, conn, "whole")
	if all := strings.Join(statements, ""); strings.Count(all, "DROP TABLE") != 3 || strings.Count(all, "ATTACH") != 3 {
		t.Fatalf("expected 3 drops and 3 partitions:\n%s", all)
	}
	for n := range statements {
		table := fmt.Sprintf("ended_%d", n)
		aged(t, conn, table)
		count := 0
		err := attempt(t, url, keeping(table), func(session *pgx.Conn, _ string) {
			if count == n {
				_ = session.PgConn().Conn().Close()
			}
			count++
		})
		if err == nil {
			t.Fatalf("a run without its connection succeeded before statement %d", n)
		}
		maintained(t, url, keeping(table))
		if got := ranges(t, conn, table); !slices.Equal(got, want) {
			t.Errorf("ended before %s\n%q\nexpected\n%q", statements[n], got, want)
		}
		left := server.Values[string](t, conn, `SELECT relname::text FROM pg_class
			WHERE starts_with(relname, $1 || '_') AND relkind = 'r' AND NOT relispartition`, table)
		if len(left) > 0 {
			t.Errorf("ended before %s: %q is left", statements[n], left)
		}
		if rows := server.Value[int](t, conn, "SELECT count(*) FROM "+table); rows != 1 {
			t.Errorf("%d rows are left, expected the one below the first partition's end", rows)
		}
	}
}

func TestADetachThatTheLockTimeoutInterruptsIsCompletedByALaterRun(t *testing.T) {
	url := server.Migrated(t)
	conn, reader := server.Connect(t, url), server.Connect(t, url)
	aged(t, conn, "event")
	s := monthly("event")
	s.Keep = 1
	server.Do(t, reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event")
	brief := s
	brief.Patience = 100 * time.Millisecond
	server.Says(t, attempt(t, url, brief, nil), "drop public.event_3", "55P03", "goes on where it stopped")
	if got := ranges(t, conn, "event"); !strings.Contains(strings.Join(got, "\n"), "pending") {
		t.Errorf("no detach is pending: %q", got)
	}
	brief.Ahead = 5 // partitions are made all the same
	server.Says(t, attempt(t, url, brief, nil), "complete the detach of public.event_3", "55P03")
	if rows := server.Value[int](t, reader, "SELECT count(*) FROM event"); rows != 4 {
		t.Errorf("the reader of before sees %d rows, expected all 4", rows)
	}
	server.Do(t, reader, "COMMIT")
	maintained(t, url, s)
	got := strings.Join(ranges(t, conn, "event"), "\n")
	if strings.Contains(got, "pending") || strings.Count(got, "\n") != 7 {
		t.Errorf("expected the first partition, this month, five ahead, and one before this:\n%s", got)
	}
}

func TestUnderChangingZonesAndUnitsEachInstantHasOnePartition(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE event (id bigint PRIMARY KEY) PARTITION BY RANGE (id)")
	ahead := 0
	for _, step := range []struct{ zone, every string }{
		{"UTC", "month"},
		{"Pacific/Kiritimati", "month"},
		{"America/New_York", "week"},
		{"Europe/Berlin", "day"},
		{"Africa/Cairo", "month"},
		{"America/Havana", "day"},
		{"Australia/Lord_Howe", "year"},
		{"UTC", "month"},
	} {
		s := monthly("event")
		s.Zone, s.Every = step.zone, step.every
		if ahead += 2; step.every == "day" {
			s.Ahead = 31 * ahead
		} else if s.Ahead = ahead; step.every == "week" {
			s.Ahead = 5 * ahead
		}
		maintained(t, url, s)
		maintained(t, url, s) // changes nothing
	}
	server.Do(t, conn, `INSERT INTO event
		SELECT snowflake_floor(now() + n * interval '1 hour') FROM generate_series(0, 24 * 400) AS n`)
	if holes := server.Value[int](t, conn, `WITH part AS (
			SELECT (regexp_match(b, 'FROM \(''?([^'')]*)'))[1] AS low, (regexp_match(b, 'TO \(''?([^'')]*)'))[1] AS high
			FROM pg_inherits, pg_class AS c, pg_get_expr(c.relpartbound, c.oid) AS b
			WHERE c.oid = inhrelid AND inhparent = 'event'::regclass)
		SELECT count(*) FROM part WHERE low <> 'MINVALUE' AND low NOT IN (SELECT high FROM part)`); holes != 0 {
		t.Errorf("there are %d holes: %q", holes, ranges(t, conn, "event"))
	}
}

func TestOnlyPartitionsOfIDsThatAnEndedRunHasDetachedOrThatAreOldAreDropped(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	aged(t, conn, "event")
	server.Do(t, conn, `
		ALTER TABLE event DETACH PARTITION event_2;
		COMMENT ON TABLE event_2 IS 'kept by a person';
		DROP TABLE event_3;
		CREATE FOREIGN DATA WRAPPER nothing;
		CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing`)
	low, high := server.Value[int64](t, conn, "SELECT max(id) + 1 FROM event WHERE id < (SELECT max(id) FROM event_2)"),
		server.Value[int64](t, conn, "SELECT max(id) FROM event_2")
	server.Do(t, conn, fmt.Sprintf(`CREATE TABLE far (id bigint NOT NULL, note text) PARTITION BY RANGE (id);
		CREATE FOREIGN TABLE far_1 PARTITION OF far FOR VALUES FROM (%d) TO (%d) SERVER nowhere`, low, high))
	s := monthly("event")
	s.Keep = 1
	maintained(t, url, s)
	if got := ranges(t, conn, "event"); len(got) != 5 || !strings.Contains(got[0], "MINVALUE") {
		t.Errorf("expected the first partition, the last month, this one, and two ahead: %q", got)
	}
	if rows := server.Value[int](t, conn, "SELECT count(*) FROM event_2"); rows != 1 {
		t.Error("a table that a person has detached has lost its row")
	}
	s.Table = "far"
	maintained(t, url, s)
	if got := ranges(t, conn, "far"); !strings.Contains(strings.Join(got, "\n"), "T_1 ") {
		t.Errorf("the foreign table is gone: %q", got)
	}
}

func TestWithoutConsentAllIsDoneButTheDrops(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	aged(t, conn, "event")
	s := monthly("event")
	s.Keep = 2
	facts, err := Look(server.Within(t), conn, s, true)
	if err != nil {
		t.Fatal(err)
	}
	err = Runner{Conn: conn, Done: func(Step) {}}.Run(server.Within(t), facts.Plan())
	server.Says(t, err, "nothing was dropped: drop public.event_3", "--yes")
	if outcome.Of(err) != outcome.Usage {
		t.Errorf("a run without consent ends with kind %d", outcome.Of(err))
	}
	if got := ranges(t, conn, "event"); len(got) != 8 {
		t.Errorf("expected four partitions that were there, and four more: %q", got)
	}
}

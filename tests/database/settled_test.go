package database

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

const settledFunction = "pgflurry.snowflake_settled(interval,boolean)"

// A follower is a reader of the table item, and what a story needs beside it.
type follower struct {
	t      *testing.T
	url    string
	reader *pgx.Conn
	writer *pgx.Conn
}

// A look is what one statement of a reader has seen.
type look struct {
	settled *int64
	ids     []int64
}

// asked is the statement of a look. arguments are those of snowflake_settled.
func asked(arguments string) string {
	return fmt.Sprintf("SELECT snowflake_settled(%s), coalesce(array_agg(id), '{}') FROM item", arguments)
}

func (f follower) look(arguments string) (seen look) {
	f.t.Helper()
	if err := f.reader.QueryRow(within(f.t), asked(arguments)).Scan(&seen.settled, &seen.ids); err != nil {
		f.t.Fatal(err)
	}
	return seen
}

// holds says whether the rows of the table that are settled are those that the look has seen.
func (f follower) holds(seen look) bool {
	f.t.Helper()
	return seen.settled == nil || !value[bool](f.t, server.Connect(f.t, f.url),
		"SELECT EXISTS (SELECT FROM item WHERE id < $1 AND id <> ALL ($2))", *seen.settled, seen.ids)
}

// draw draws in a session, and returns when a transaction that begins from now on does not hold the ID back.
func (f follower) draw(conn *pgx.Conn) (id int64) {
	f.t.Helper()
	id = value[int64](f.t, conn, "SELECT next_snowflake()")
	server.Eventually(f.t, server.Connect(f.t, f.url),
		"pgflurry.ticks(now()) - pgflurry.lag_limit() - 1 > $1::bigint >> 22", id)
	return id
}

// begin begins a transaction that has drawn and has no xid. A draw that raises the mark has one.
func (f follower) begin() (id int64) {
	f.t.Helper()
	for assigned := true; assigned; {
		run(f.t, f.writer, "ROLLBACK; BEGIN")
		id = f.draw(f.writer)
		assigned = value[bool](f.t, f.writer, "SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
	}
	return id
}

// insert begins a transaction that stores a row, and leaves it open. A later xid has been used meanwhile.
func (f follower) insert() {
	f.t.Helper()
	run(f.t, f.writer, "BEGIN")
	f.store(f.draw(f.writer))
	run(f.t, f.reader, "SELECT pg_current_xact_id()")
}

func (f follower) store(id int64) {
	f.t.Helper()
	run(f.t, f.writer, fmt.Sprintf("INSERT INTO item VALUES (%d)", id))
}

// between looks, and does something between the snapshot of the look and its call of snowflake_settled.
func (f follower) between(do func()) (seen look) {
	f.t.Helper()
	control := server.Connect(f.t, f.url)
	run(f.t, control, "SELECT pg_advisory_lock(1)")
	done := make(chan error, 1)
	go func() {
		query := strings.Replace(asked("'0'"), "SELECT ", "SELECT pg_advisory_lock(1)::text, ", 1)
		// The table is read first, and the functions are called for its one row.
		done <- f.reader.QueryRow(within(f.t), query).Scan(nil, &seen.settled, &seen.ids)
	}()
	server.Blocked(f.t, control, 1)
	do()
	run(f.t, control, "SELECT pg_advisory_unlock(1)")
	if err := <-done; err != nil {
		f.t.Fatal(err)
	}
	return seen
}

// A history is a story that a guard of snowflake_settled is for. text is the guard in the function, and without is what
// stands there when it is taken away. begin is SQL to run first. held is false if the story has gone wrong.
type history struct {
	name, text, without, begin string
	held                       func(f follower) bool
}

var histories = []history{
	{
		name: "a draw may be older than its transaction", text: "- pgflurry.lag_limit()",
		held: func(f follower) bool {
			behind := false
			for !behind {
				run(f.t, f.writer, "ROLLBACK; BEGIN")
				behind = value[bool](f.t, f.writer, "INSERT INTO item DEFAULT VALUES "+
					"RETURNING id >> 22 < pgflurry.ticks(now() - interval '1 microsecond')")
			}
			seen := f.look("'0', true")
			run(f.t, f.writer, "COMMIT")
			return f.holds(seen)
		},
	},
	{
		name: "a commit is late", text: "least(oldest, min(s.xact_start))", without: "oldest",
		held: func(f follower) bool {
			f.insert()
			seen := f.look("'0'")
			run(f.t, f.writer, "COMMIT")
			return f.holds(seen)
		},
	},
	{
		name: "the upper end is the start of the caller's transaction", text: ":= transaction_timestamp()",
		without: ":= clock_timestamp()",
		// An old list, without the caller, must not matter.
		begin: "DO $$ BEGIN EXECUTE replace(replace(pg_get_functiondef('" + settledFunction + "'::regprocedure), " +
			"'PERFORM pg_stat_clear_snapshot();', ''), 'WHERE s.datid', " +
			"'WHERE s.pid <> pg_backend_pid() AND s.datid'); END $$",
		held: func(f follower) bool {
			run(f.t, f.reader, "BEGIN")
			f.look("'0', true")
			run(f.t, f.writer, "BEGIN")
			f.store(f.draw(f.writer))
			seen := f.look("'0', true")
			run(f.t, f.writer, "COMMIT")
			return f.holds(seen)
		},
	},
	{
		name: "each call in a transaction looks anew", text: "PERFORM pg_stat_clear_snapshot();",
		held: func(f follower) bool {
			f.insert()
			run(f.t, f.reader, "BEGIN")
			before := f.look("'0', true")
			run(f.t, f.writer, "COMMIT")
			after := f.look("'0', true")
			return *after.settled > *before.settled
		},
	},
	{
		name: "a commit between snapshot and list", text: "pg_xact_status(x) = 'committed'", without: "false",
		held: func(f follower) bool {
			f.insert()
			return f.holds(f.between(func() { run(f.t, f.writer, "COMMIT") }))
		},
	},
	{
		name: "… whose xid is not in the snapshot", text: "pg_xact_status(next::text::xid8) = 'committed'",
		without: "pg_xact_status(next::text::xid8) = ''",
		held: func(f follower) bool {
			id := f.begin()
			return f.holds(f.between(func() { f.store(id); run(f.t, f.writer, "COMMIT") }))
		},
	},
	{
		name: "the snapshot is that of the caller's statement", text: " STABLE ",
		without: " VOLATILE ",
		held: func(f follower) bool {
			f.insert()
			return f.holds(f.between(func() { run(f.t, f.writer, "COMMIT") }))
		},
	},
	{
		name: "REPEATABLE READ", text: "pg_xact_status(x) = 'committed'", without: "false",
		held: func(f follower) bool { return f.holds(f.repeatable("'0'")) },
	},
	{
		name: "REPEATABLE READ has no later snapshot", text: "IN ('repeatable read', 'serializable')",
		without: "IN ('')",
		held:    func(f follower) bool { return f.holds(f.repeatable("'0', later => true")) },
	},
	{
		name: "a prepared transaction", text: "EXISTS (SELECT FROM pg_prepared_xacts AS p " +
			"WHERE p.database = current_database())", without: "false",
		held: func(f follower) bool {
			f.insert()
			run(f.t, f.writer, "PREPARE TRANSACTION 'two phases'")
			seen := f.look("'0'")
			run(f.t, f.writer, "COMMIT PREPARED 'two phases'")
			return f.holds(seen)
		},
	},
	{
		name: "a session that hides its activity", text: "s.state = 'disabled'", without: "false",
		held: func(f follower) bool {
			run(f.t, f.writer, "SET track_activities = off")
			id := f.begin()
			seen := f.look("'0'")
			f.store(id)
			run(f.t, f.writer, "COMMIT")
			return f.holds(seen)
		},
	},
	{
		name: "a session that hid it when its transaction began", text: "starts_with(s.state, 'idle in')",
		without: "false",
		held: func(f follower) bool {
			run(f.t, f.writer, "SET track_activities = off")
			id := f.begin()
			run(f.t, f.writer, "SET track_activities = on")
			seen := f.look("'0'")
			f.store(id)
			run(f.t, f.writer, "COMMIT")
			return f.holds(seen)
		},
	},
	{
		name: "a walsender that writes", text: "s.backend_xid IS NOT NULL", without: "false",
		held: func(f follower) bool {
			walsender, err := pgconn.Connect(within(f.t), f.url+"&replication=database")
			if err != nil {
				f.t.Fatal(err)
			}
			defer walsender.Close(context.WithoutCancel(f.t.Context()))
			id, control := f.draw(f.writer), server.Connect(f.t, f.url)
			run(f.t, control, "SELECT pg_advisory_lock(2)")
			done := make(chan error, 1)
			go func() {
				_, err := walsender.Exec(within(f.t), fmt.Sprintf(
					"BEGIN; INSERT INTO item VALUES (%d); SELECT pg_advisory_lock(2); COMMIT", id)).ReadAll()
				done <- err
			}()
			server.Blocked(f.t, control, 1)
			seen := f.look("'0'")
			run(f.t, control, "SELECT pg_advisory_unlock(2)")
			if err := <-done; err != nil {
				f.t.Fatal(err)
			}
			return f.holds(seen)
		},
	},
	{
		name: "an owner who does not see when others began", text: "NOT pg_has_role(",
		without: "false AND pg_has_role(",
		begin:   "ALTER FUNCTION " + settledFunction + " OWNER TO settler",
		held: func(f follower) bool {
			id := f.begin() // everybody sees who has an xid
			var seen look
			err := f.reader.QueryRow(within(f.t), asked("'0'")).Scan(&seen.settled, &seen.ids)
			f.store(id)
			run(f.t, f.writer, "COMMIT")
			if err != nil {
				says(f.t, err, "its owner settler cannot see", "42501", "GRANT pg_read_all_stats TO settler")
			}
			return f.holds(seen)
		},
	},
	{
		name: "an ID that a program keeps for max_age", text: "- pgflurry.ticks_of(max_age)",
		held: func(f follower) bool {
			id := f.draw(f.writer)
			seen := f.look("'1 day', true")
			f.store(id)
			return f.holds(seen)
		},
	},
}

// repeatable looks with a snapshot that is older than the commit of a row.
func (f follower) repeatable(arguments string) look {
	f.t.Helper()
	f.insert()
	run(f.t, f.reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM item")
	run(f.t, f.writer, "COMMIT")
	return f.look(arguments)
}

func TestEachHistoryOfAFollowedTableHoldsAndIsMissedWhenItsGuardIsTakenAway(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, map[string]string{"max_prepared_transactions": "2"})
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	conn := server.Connect(t, url)
	run(t, conn, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY); CREATE ROLE settler; "+
		"GRANT CREATE ON SCHEMA pgflurry TO settler; GRANT SELECT ON pgflurry.namespace TO settler")
	whole := value[string](t, conn, "SELECT pg_get_functiondef($1::regprocedure)", settledFunction)
	for _, h := range histories {
		t.Run(h.name, func(t *testing.T) {
			told := func(how string) bool {
				held := false
				t.Run(how, func(t *testing.T) { // its sessions end with it
					held = h.held(follower{t, url, server.Connect(t, url), server.Connect(t, url)})
				})
				return held
			}
			run(t, conn, "ALTER FUNCTION "+settledFunction+" OWNER TO CURRENT_USER; "+whole)
			run(t, conn, h.begin)
			if !told("whole") {
				t.Fatal("the guard does not hold")
			}
			rewrite(t, conn, settledFunction, h.text, h.without, 1)
			if told("without") {
				t.Error("without the guard nothing is noticed")
			}
		})
	}
}

func TestWhatHoldsAFollowedTableBackEndsAndThenAllRowsAreSettled(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, map[string]string{"max_prepared_transactions": "2"})
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	owner := server.Connect(t, url)
	run(t, owner, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY); CREATE ROLE settler; "+
		"GRANT CREATE ON SCHEMA pgflurry TO settler; GRANT SELECT ON pgflurry.namespace TO settler")
	f := follower{t, url, server.Connect(t, url), server.Connect(t, url)}
	known := func() bool { return f.look("'0', later => true").settled != nil }

	f.insert()
	run(t, f.writer, "PREPARE TRANSACTION 'two phases'")
	if known() {
		t.Error("a prepared transaction is open, and the answer is not NULL")
	}
	run(t, f.writer, "COMMIT PREPARED 'two phases'")
	run(t, f.writer, "SET track_activities = off")
	if known() {
		t.Error("a session hides its activity, and the answer is not NULL")
	}
	run(t, f.writer, "SET track_activities = on")
	run(t, f.writer, "SELECT 1") // shows itself again
	plain := server.Connect(t, role(t, url, "reads_settled"))
	run(t, owner, "ALTER FUNCTION "+settledFunction+" OWNER TO settler")
	err := refused(t, plain, "42501", "SELECT snowflake_settled()")
	run(t, owner, err.Hint[strings.Index(err.Hint, "GRANT"):])
	id := f.draw(f.writer)
	f.store(id)
	server.Eventually(t, plain, "snowflake_settled('0') > $1", id)
	server.Eventually(t, plain, "snowflake_settled('0', later => true) > $1", id)
	if value[bool](t, plain, "SELECT snowflake_settled() > $1", id) {
		t.Error("without an argument it allows for no time between draw and transaction")
	}
	if got := f.look("'0'").ids; !slices.Contains(got, id) {
		t.Errorf("the table has %d", got)
	}
}

// The bound of snowflake_settled is exact: a draw can be so old, and no older.
func TestADrawIsAsOldAsLagLimitSaysAndNoOlderInEachTextThatHasTheNumber(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{20, 7} {
		for _, older := range []int64{0, 1} {
			conn := server.Connect(t, server.Migrated(t))
			if limit != 20 {
				rewrite(t, conn, "pgflurry.lag_limit()", "20 /", fmt.Sprintf("%d /", limit), 1)
				run(t, conn, "CALL pgflurry.install_next_snowflake()")
			}
			const behind = `SELECT pgflurry.ticks(now() - interval '1 microsecond')
				- (snowflake_settled('0', later => true) >> 22)`
			if got := value[int64](t, conn, behind); got != limit {
				t.Errorf("settled is %d ticks behind the oldest transaction, expected %d", got, limit)
			}
			stopClock(t, conn, noon, 500)
			tick := noon - limit - older
			told := func(text string, id int64) {
				t.Helper()
				if got := id>>22 == tick; got != (older == 0) {
					t.Errorf("%s with limit %d gives a draw of tick noon-%d: %t", text, limit, noon-tick, got)
				}
			}
			// Before the draws that leave the stand-in ahead of the clock, which does not move.
			run(t, conn, fmt.Sprintf(
				"SELECT setval('pgflurry.lane', 1), setval('pgflurry.lane_stand_in', %d)", tick<<22|4))
			told("stand_in", value[int64](t, conn, "SELECT pgflurry.stand_in()"))
			r := drawing{t, conn}
			locked(r, func() bool {
				id, _ := r.at(tick, 500)
				told("advance", id)
				told("advance_slowly", value[int64](t, conn, "SELECT pgflurry.advance_slowly($1)", tick<<22|500))
				return true
			})
		}
	}
}

// At the first microsecond of some ticks, the clock of next_snowflake() rounds to the tick before. So snowflake_settled
// takes a microsecond off.
func TestInTheFirstMicrosecondOfATickADrawMayBeOneTickOlder(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	rounded := value[int64](t, conn, `SELECT min(tick) FROM generate_series($1::bigint, $1 + 100) AS tick
		WHERE ((date_part('epoch', to_timestamp(1704067200 + tick / 1000.0)) - 1704067200.0005::double precision)
			* 1000)::bigint < tick`, noon)
	stopClock(t, conn, rounded, 0)
	r := drawing{t, conn}
	locked(r, func() bool {
		if got := r.tick(rounded-21, 500); got != rounded-21 {
			t.Errorf("a draw that is 21 ticks old is given as one of %d", rounded-got)
		}
		if got := r.tick(rounded-22, 500); got == rounded-22 {
			t.Error("a draw that is 22 ticks old is given")
		}
		return true
	})
}

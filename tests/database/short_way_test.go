package database

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/server"
)

// noon is the tick that the function's clock shows in these tests. It is 300 ticks into a block of 1024, the step of
// the mark.
const noon = 61_000_000<<10 + 300

// A guard is a text in an installed function, and without is that text with the guard removed. held tries the function:
// true if the guard works.
type guard struct {
	name, in, text, without string
	times                   int                  // how often text stands in the function; 0: once
	clock                   int64                // tick that the clock shows; 0: noon
	begin                   string               // SQL to run first
	elsewhere               bool                 // run in a copy of the database
	held                    func(r drawing) bool // draws; false if the guarded accident has happened
}

// drawing is a session that tries a guard.
type drawing struct {
	t    *testing.T
	conn *pgx.Conn
}

// at sets the lane to a tick and a counter, and draws in a new session. It returns the ID, or the SQLSTATE of the
// refusal.
func (r drawing) at(tick, counter int64) (id int64, sqlstate string) {
	r.t.Helper()
	run(r.t, r.conn, "DISCARD PLANS")
	run(r.t, r.conn, fmt.Sprintf("SELECT setval('pgflurry.lane', %d)", tick<<22|counter))
	err := r.conn.QueryRow(within(r.t), "SELECT next_snowflake()").Scan(&id)
	if said := new(pgconn.PgError); errors.As(err, &said) {
		return 0, said.Code
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return id, ""
}

// refused draws and says whether the answer was this SQLSTATE.
func (r drawing) refused(tick, counter int64, sqlstate string) bool {
	r.t.Helper()
	_, said := r.at(tick, counter)
	return said == sqlstate
}

// tick draws and returns the tick of the ID.
func (r drawing) tick(tick, counter int64) int64 {
	r.t.Helper()
	id, said := r.at(tick, counter)
	if said != "" {
		r.t.Errorf("refused with %s", said)
	}
	return id >> 22
}

// lastBlock leaves the lane in the block before the clock's, with its mark as the function leaves it.
func (r drawing) lastBlock(raiser string) {
	r.t.Helper()
	run(r.t, r.conn, fmt.Sprintf("SELECT setval('pgflurry.mark', %d), nextval('pgflurry.mark'), "+
		"setval('pgflurry.confirmed', %[1]d), setval('pgflurry.raiser', %[2]s)", (noon>>10+1)<<10, raiser))
}

// nextBlock draws while the clock is in another block than the lane, and returns the tick.
func (r drawing) nextBlock(raiser string) int64 {
	r.t.Helper()
	r.lastBlock(raiser)
	tick := r.tick(noon-1024, 200)
	if tick != noon {
		r.t.Errorf("the ID has tick %d, not the clock's, %d", tick, noon)
	}
	return tick
}

func (r drawing) refusedInNextBlock(sqlstate string) bool {
	r.t.Helper()
	r.lastBlock("0")
	return r.refused(noon-1024, 200, sqlstate)
}

// asCopy makes the database look like one that was restored from a dump.
const asCopy = "ALTER TABLE pgflurry.namespace RENAME TO of_the_original; " +
	"CREATE TABLE pgflurry.namespace AS TABLE pgflurry.of_the_original"

// fenced begins a transaction, and pretends that raiser raised the mark. Ticks at or above from are then the raiser's
// alone.
func (r drawing) fenced(raiser string, from int64) drawing {
	r.t.Helper()
	run(r.t, r.conn, fmt.Sprintf("COMMIT; SELECT setval('pgflurry.mark', %d); SELECT nextval('pgflurry.mark'); "+
		"BEGIN; SELECT setval('pgflurry.raiser', %s), setval('pgflurry.confirmed', %d)", noon, raiser, from))
	return r
}

// share is the part of a tick's sequence that belongs to the stand-in, from 0 on.
const share = 128

var guardsOfTheShortWay = []guard{
	{
		name: "a wasted counter sends the lane back", in: "pgflurry.advance(bigint)",
		text: ">=) 3145728::bigint", without: ">=) 4194304::bigint",
		held: func(r drawing) bool {
			run(r.t, r.conn, fmt.Sprintf("SELECT setval('pgflurry.mark', %d); SELECT nextval('pgflurry.mark')", noon))
			return r.tick(noon-5, laneGuard) > noon+1000
		},
	},
	{
		name: "a tick that nobody set is START", in: "pgflurry.advance_slowly(bigint)",
		text: "< marked THEN", without: "< 0 THEN", // START with a counter that ran over, before the clock was set back
		held: func(r drawing) bool {
			// move the mark as the function does
			run(r.t, r.conn,
				fmt.Sprintf("SELECT setval('pgflurry.mark', %d); SELECT nextval('pgflurry.mark')", noon+724))
			return r.tick(1, 5) > noon+724
		},
	},
	{
		name: "a copy is told before its first ID", in: "next_snowflake()", elsewhere: true,
		text: "CASE WHEN pgflurry.may_draw", without: "CASE WHEN true OR pgflurry.may_draw",
		held: func(r drawing) bool { return r.refused(noon, 5, "SNF03") && r.refused(noon-5, 5, "SNF03") },
	},
	{
		name: "a copy is told by its server", in: "pgflurry.why_copied()",
		begin: "UPDATE pgflurry.namespace SET system_identifier = 1",
		text:  "WHEN n.system_identifier <> s.here THEN", without: "WHEN false THEN",
		held: func(r drawing) bool { return r.refused(noon, 5, "SNF03") },
	},
	{
		name: "a copy is told by its database", in: "pgflurry.why_copied()", elsewhere: true,
		text: "WHEN n.database_oid <> d.oid THEN", without: "WHEN false THEN",
		held: func(r drawing) bool { return r.refused(noon, 5, "SNF03") },
	},
	{
		name: "a copy is told by its table", in: "pgflurry.why_copied()", begin: asCopy,
		text:    "WHEN n.namespace_oid <> n.tableoid OR n.worker_oid <> 'pgflurry.worker'::regclass THEN",
		without: "WHEN false THEN",
		held:    func(r drawing) bool { return r.refused(noon, 5, "SNF03") },
	},
	{
		name: "a function of another worker is told", in: "pgflurry.may_draw_slowly(uuid,integer)",
		begin: "UPDATE pgflurry.namespace SET function_worker = 1",
		text:  "n.function_worker = worker", without: "true",
		held: func(r drawing) bool { return r.refused(noon, 5, "SNF03") },
	},
	{
		name: "a function of another ID space is told", in: "pgflurry.may_draw_slowly(uuid,integer)",
		begin: "UPDATE pgflurry.namespace SET id = gen_random_uuid()",
		text:  "n.id = space", without: "true",
		held: func(r drawing) bool { return r.refused(noon, 5, "SNF03") },
	},
	{
		name: "a mark that somebody else moved is not gone on from", in: "pgflurry.advance_slowly(bigint)",
		text: "IF NOT ours OR", without: "IF",
		held: func(r drawing) bool {
			// move the mark as the function itself does, each time
			run(r.t, r.conn, fmt.Sprintf("SELECT setval('pgflurry.mark', %d)", (noon>>10+1)<<10+1))
			return r.tick(noon-1024, 0) > noon+1000
		},
	},
	{
		name: "only under the lock", in: "pgflurry.advance(bigint)",
		text: "LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;", without: "",
		held: func(r drawing) bool { return locked(r, func() bool { return r.tick(noon-5, 0) == noon-5 }) },
	},
	{
		name: "while the lock is taken, no draw that is not an ID", in: "pgflurry.advance(bigint)",
		text: "AND NOT (drawn OPERATOR(pg_catalog.&) 4190208::bigint) OPERATOR(pg_catalog.<>) 0::bigint", without: "",
		held: func(r drawing) bool {
			// the clock stands still, so the lane's tick never gets old
			run(r.t, r.conn, "SET statement_timeout = '500ms'")
			return locked(r, func() bool { return r.refused(noon, 5000, "57014") })
		},
	},
	{
		name: "while the lock is taken, no draw that is old", in: "pgflurry.advance(bigint)",
		text: "OPERATOR(pg_catalog.+) 20::bigint)", without: "OPERATOR(pg_catalog.+) 2000::bigint)",
		held: func(r drawing) bool { return locked(r, func() bool { return r.tick(noon-21, 500) > noon-21 }) },
	},
	{
		name: "a counter that is no ID is none", in: "pgflurry.advance(bigint)",
		text: "OR (d OPERATOR(pg_catalog.&) 4190208::bigint)", without: "OR (d OPERATOR(pg_catalog.&) 0::bigint)",
		held: func(r drawing) bool { id, _ := r.at(noon+200, 4095); return id>>12&1023 == 0 },
	},
	{
		name: "a tick above that of the draw", in: "pgflurry.advance(bigint)",
		text:    "ELSE (d OPERATOR(pg_catalog.>>) 22) OPERATOR(pg_catalog.+) 1::bigint END;",
		without: "ELSE (d OPERATOR(pg_catalog.>>) 22) OPERATOR(pg_catalog.+) 0::bigint END;",
		held:    func(r drawing) bool { return r.tick(noon+200, 4095) > noon+200 },
	},
	{
		name: "not from START", in: "pgflurry.advance(bigint)", clock: 500,
		// another session sends the lane back to START after this call has drawn
		begin: `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('pgflurry.advance(bigint)'::regprocedure), 'NOWAIT;',
			'NOWAIT; PERFORM pg_catalog.setval(''pgflurry.lane''::pg_catalog.regclass, 2097152::bigint);'); END $$`,
		text: "(d OPERATOR(pg_catalog.&) 2097152::bigint) OPERATOR(pg_catalog.<>) 0::bigint", without: "false",
		held: func(r drawing) bool { return r.tick(490, 4000) > 1500 },
	},
	{
		name: "not far ahead of the clock", in: "pgflurry.advance(bigint)",
		text: "OR target OPERATOR(pg_catalog.>) (clock OPERATOR(pg_catalog.+) 1000::bigint)", without: "",
		begin: fmt.Sprintf("SELECT setval('pgflurry.mark', %d); SELECT nextval('pgflurry.mark')", noon+8000),
		held:  func(r drawing) bool { return r.refused(noon+8000, 4095, "SNF01") },
	},
	{
		name: "in the next block the mark is raised first", in: "pgflurry.advance(bigint)",
		text: "pg_catalog.setval('pgflurry.mark'::pg_catalog.regclass, b.mark)\n" +
			"                                       OPERATOR(pg_catalog.>) 0::bigint\n" +
			"                    THEN CASE WHEN pg_catalog.nextval('pgflurry.mark'::pg_catalog.regclass)\n" +
			"                                   OPERATOR(pg_catalog.>) b.mark\n",
		without: "true THEN CASE WHEN true",
		held: func(r drawing) bool {
			tick := r.nextBlock("0")
			return value[int64](r.t, r.conn, "SELECT last_value FROM pgflurry.mark") > tick+1024
		},
	},
	{
		name: "a mark that a call left half raised is not gone on from", in: "pgflurry.advance(bigint)",
		text:    "pg_catalog.nextval('pgflurry.mark'::pg_catalog.regclass)",
		without: "pg_catalog.setval('pgflurry.mark'::pg_catalog.regclass, b.mark OPERATOR(pg_catalog.+) 1::bigint)",
		held: func(r drawing) bool {
			r.nextBlock("0")
			return value[bool](r.t, r.conn, "SELECT log_cnt > 0 FROM pgflurry.mark")
		},
	},
	{
		name: "the next block is for everybody", in: "pgflurry.advance(bigint)",
		text:    "pg_catalog.setval('pgflurry.confirmed'::pg_catalog.regclass, b.mark)",
		without: "b.mark",
		held: func(r drawing) bool {
			tick := r.nextBlock("0")
			return value[int64](r.t, r.conn, "SELECT last_value FROM pgflurry.confirmed") > tick+1024
		},
	},
	{
		name: "not where the mark moves and a transaction is its raiser", in: "pgflurry.advance(bigint)",
		text: "AND NOT pg_catalog.pg_sequence_last_value('pgflurry.raiser'::pg_catalog.regclass)\n" +
			"                          OPERATOR(pg_catalog.<>) 0::bigint", without: "",
		held: func(r drawing) bool {
			r.nextBlock("5")
			return value[int64](r.t, r.conn, "SELECT last_value FROM pgflurry.raiser") == 0
		},
	},
	{
		name: "not where somebody else has moved the mark", in: "pgflurry.advance(bigint)",
		text: "AND m.log_cnt OPERATOR(pg_catalog.>) 0::bigint", without: "",
		held: func(r drawing) bool {
			run(r.t, r.conn, fmt.Sprintf("SELECT setval('pgflurry.mark', %d), setval('pgflurry.raiser', 0)", noon))
			return r.tick(noon-1024, 200) > noon+1000
		},
	},
	{
		name: "not where the mark is beyond the lane's blocks", in: "pgflurry.advance(bigint)",
		text: "OPERATOR(pg_catalog.>) m.last_value", without: "OPERATOR(pg_catalog.>=) m.last_value",
		held: func(r drawing) bool {
			r.lastBlock("0")
			run(r.t, r.conn, "SELECT nextval('pgflurry.mark')")
			return r.tick(noon-1024, 200) > noon+1000
		},
	},
	{
		name: "not where the sequence says that the database is closed", in: "pgflurry.advance(bigint)",
		begin: "SELECT setval('pgflurry.closed', 5); SELECT nextval('pgflurry.closed')",
		text:  "AND c.log_cnt OPERATOR(pg_catalog.>) 0::bigint", without: "AND false",
		held: func(r drawing) bool { return r.refusedInNextBlock("SNF04") },
	},
	{
		name: "not where the row says that the database is closed", in: "pgflurry.advance(bigint)",
		begin: "UPDATE pgflurry.namespace SET closed_at = now()",
		text:  "AND n.closed_at IS NULL", without: "",
		held: func(r drawing) bool { return r.refusedInNextBlock("SNF04") },
	},
	{
		name: "not beyond the last tick", in: "pgflurry.advance(bigint)", clock: 1<<41 - 1,
		text: "AND 2199023255552::bigint OPERATOR(pg_catalog.>) target", without: "",
		held: func(r drawing) bool {
			r.lastBlock("0")
			return r.refused(1<<41-1, 4095, "SNF02")
		},
	},
	{
		name: "a draw of a fenced tick is an ID for its raiser alone", in: "pgflurry.advance(bigint)",
		text:    "OPERATOR(pg_catalog.=) pg_catalog.txid_current_if_assigned()",
		without: "OPERATOR(pg_catalog.>) 0::bigint",
		held:    func(r drawing) bool { return r.fenced("5", 1).tick(noon, laneStart+200) > noon },
	},
	{
		name: "a draw of a tick that was for everybody is none, however far its counter went",
		in:   "pgflurry.advance(bigint)",
		text: "OPERATOR(pg_catalog.<=) (drawn OPERATOR(pg_catalog.>>) 22)", without: "OPERATOR(pg_catalog.>) 0::bigint",
		held: func(r drawing) bool { return r.fenced("txid_current()", noon+10).tick(noon, laneStart+200) > noon },
	},
	{
		name: "a draw of a fenced tick is none beyond the sequence", in: "pgflurry.advance(bigint)",
		text: "OPERATOR(pg_catalog.<) 2101248::bigint", without: "OPERATOR(pg_catalog.<) 3101248::bigint",
		held: func(r drawing) bool { return r.fenced("txid_current()", 1).tick(noon, laneStart+5000) > noon },
	},
	{
		name: "a draw of a fenced tick is none when it is old", in: "pgflurry.advance(bigint)",
		text:    "OPERATOR(pg_catalog.+) 4::bigint) THEN\n            v :=",
		without: "OPERATOR(pg_catalog.+) 400::bigint) THEN\n            v :=",
		held:    func(r drawing) bool { return r.fenced("txid_current()", 1).tick(noon-6, laneStart+200) > noon-6 },
	},
	{
		name: "bits of a worker are flipped, so that what is no ID does not become one", in: "next_snowflake()",
		begin:   "UPDATE pgflurry.namespace SET function_worker = 1; CALL pgflurry.install_next_snowflake()",
		text:    "END) OPERATOR(pg_catalog.#)",
		without: "END) OPERATOR(pg_catalog.|)",
		held: func(r drawing) bool {
			first, _ := r.at(noon, 4000)
			ids := values[int64](r.t, r.conn, "SELECT next_snowflake() FROM generate_series(1, 9000)")
			foreign := slices.ContainsFunc(ids, func(id int64) bool { return id>>12&1023 != 1 })
			return !foreign && first < ids[0] && slices.IsSorted(ids) && len(slices.Compact(ids)) == 9000
		},
	},
}

// locked runs try while another session holds the lock of the lane.
func locked(r drawing, try func() bool) bool {
	r.t.Helper()
	holder, err := pgx.Connect(within(r.t), r.conn.Config().ConnString())
	if err != nil {
		r.t.Fatal(err)
	}
	defer holder.Close(within(r.t))
	run(r.t, holder, "BEGIN; LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE")
	return try()
}

// rewrite changes the installed text of a function. The text from must stand in it n times.
func rewrite(t *testing.T, conn *pgx.Conn, function, from, to string, n int) {
	t.Helper()
	text := value[string](t, conn, "SELECT pg_get_functiondef($1::regprocedure)", function)
	if found := strings.Count(text, from); found != n {
		t.Fatalf("%q stands %d times in %s, expected %d: the mutant no longer fits", from, found, function, n)
	}
	run(t, conn, strings.ReplaceAll(text, from, to))
}

// stopClock lets the clock of the function stand still, so many microseconds behind the beginning of a tick.
func stopClock(t *testing.T, conn *pgx.Conn, tick, micros int64) {
	t.Helper()
	stopped := fmt.Sprintf("pg_catalog.to_timestamp(%d.%03d%03d)", 1704067200+tick/1000, tick%1000, micros)
	rewrite(t, conn, "next_snowflake()", "pg_catalog.clock_timestamp()", stopped, 1)
	rewrite(t, conn, "pgflurry.advance(bigint)", "pg_catalog.clock_timestamp()", stopped, 3)
	for _, function := range []string{
		"pgflurry.advance_slowly(bigint)", "pgflurry.advance_slowly_stand_in(bigint)",
	} {
		rewrite(t, conn, function, "clock_timestamp()", stopped, 3)
	}
	rewrite(t, conn, "pgflurry.stand_in()", "clock_timestamp()", stopped, 1)
}

func TestEachGuardOfTheShortWayHoldsAndIsMissedWhenItIsTakenAway(t *testing.T) {
	t.Parallel()
	for _, g := range guardsOfTheShortWay {
		t.Run(g.name, func(t *testing.T) {
			url := server.Migrated(t)
			if g.elsewhere {
				url = copyOf(t, url)
			}
			conn := server.Connect(t, url)
			run(t, conn, g.begin)
			clock := g.clock
			if clock == 0 {
				clock = noon
			}
			stopClock(t, conn, clock, 500) // in the middle of a tick
			if !g.held(drawing{t, conn}) {
				t.Fatal("the guard does not hold")
			}
			rewrite(t, conn, g.in, g.text, g.without, max(g.times, 1))
			if g.held(drawing{t, conn}) {
				t.Error("without the guard nothing is noticed")
			}
		})
	}
}

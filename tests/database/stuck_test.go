package database

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// held announces that it is there and waits until the test releases the advisory lock. It polls, so that it does not
// wait for a lock itself.
const held = "PERFORM pg_catalog.set_config('application_name', 'held', true); " +
	"WHILE NOT pg_catalog.pg_try_advisory_xact_lock_shared(4242) " +
	"LOOP PERFORM pg_catalog.pg_sleep(0.005::double precision); END LOOP;"

// points are places in the functions between taking the lock of the lane and releasing it. Each text stands once in its
// function.
var points = []struct {
	function, text string
	before         bool   // stop before the text, else behind it
	begin          string // SQL that makes the next call pass there
}{
	{
		"pgflurry.advance(bigint)",
		"LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;", false, toShort,
	},
	{"pgflurry.advance(bigint)", "d := pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass);", false, toShort},
	{"pgflurry.advance(bigint)", "v := pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass,", true, toShort},
	{"pgflurry.advance(bigint)", "RAISE SQLSTATE 'SNF00';", true, toShort},
	{"pgflurry.advance(bigint)", "v := (SELECT CASE", true, toBlock},
	{"pgflurry.advance(bigint)", "RAISE SQLSTATE 'SNF00';", true, toBlock},
	{"pgflurry.advance_slowly(bigint)", "v := nextval('pgflurry.lane'::regclass);", true, toSlow},
	{"pgflurry.advance_slowly(bigint)", "seconds := date_part('epoch', clock_timestamp()) - epoch;", true, toSlow},
	{"pgflurry.advance_slowly(bigint)", "seconds := date_part('epoch', clock_timestamp()) - epoch;", true, toStart},
	{
		"pgflurry.advance_slowly(bigint)",
		"PERFORM setval('pgflurry.mark'::regclass, ((target >> block_bits) + 2) << block_bits);", true, toSlow,
	},
	{"pgflurry.advance_slowly(bigint)", "PERFORM nextval('pgflurry.mark'::regclass);", true, toSlow},
	{"pgflurry.advance_slowly(bigint)", "shown := target << lane_bits |", true, toSlow},
	{"pgflurry.advance_slowly(bigint)", "shown := target << lane_bits |", true, toStart},
	{"pgflurry.advance_slowly(bigint)", "PERFORM setval('pgflurry.lane'::regclass, v + bar);", true, toSlow},
	{"pgflurry.advance_slowly(bigint)", "PERFORM setval('pgflurry.lane'::regclass, v + bar);", true, toStart},
	{"pgflurry.advance_slowly(bigint)", "RAISE EXCEPTION USING ERRCODE = 'SNF00';", true, toSlow},
}

const (
	// toShort puts the lane slightly behind the clock, in the same block of the mark.
	toShort = `DO $$
	DECLARE
		t bigint := 0;
	BEGIN
		WHILE (t & 1023) NOT BETWEEN 50 AND 700 LOOP
			PERFORM pg_sleep(0.01);
			t := pgflurry.ticks(clock_timestamp()) - 10;
		END LOOP;
		PERFORM setval('pgflurry.mark', ((t >> 10) + 2) << 10), nextval('pgflurry.mark'),
			setval('pgflurry.lane', t << 22 | 4000);
	END $$`
	// toSlow lets advance() leave that to advance_slowly(), as after a switch from synchronous replication.
	toSlow = toBlock + `; SELECT setval('pgflurry.raiser', 5)`
	// toBlock lets the lane fall behind by more than a block, so that the mark has to move.
	toBlock = `SELECT
			setval('pgflurry.lane', l),
			setval('pgflurry.mark', (((l >> 22) >> 10) + 2) << 10),
			nextval('pgflurry.mark'), setval('pgflurry.raiser', 0)
		FROM (SELECT last_value - (3000::bigint << 22) AS l FROM pgflurry.lane) AS back`
	// toStart leaves the lane as a crash does.
	toStart = "SELECT setval('pgflurry.lane', 2097152)"
)

func TestWhoHoldsTheLockAndDoesNotGoOnHoldsNobodyUpAndGivesNoIDTwiceWhenHeDoes(t *testing.T) {
	t.Parallel()
	for i, p := range points {
		t.Run(fmt.Sprintf("%d %s", i, p.text), func(t *testing.T) {
			t.Parallel()
			url := server.Migrated(t)
			conn := server.Connect(t, url)
			seen := map[int64]bool{}
			add := func(ids []int64) {
				t.Helper()
				for _, id := range ids {
					if seen[id] {
						t.Fatalf("%d came twice", id)
					}
					seen[id] = true
				}
			}
			some := fmt.Sprintf("SELECT next_snowflake() FROM generate_series(1, %d)", volume.Of(600, 3000))
			add(values[int64](t, conn, some))
			// so that no draw waits for the clock
			server.Eventually(t, conn,
				"(SELECT last_value FROM pgflurry.mark) < pgflurry.ticks(clock_timestamp()) + 900")
			run(t, conn, "SELECT pg_advisory_lock(4242)")
			with := p.text + "\n" + held
			if p.before {
				with = held + "\n" + p.text
			}
			rewrite(t, conn, p.function, p.text, with, 1)
			if p.begin != "" {
				run(t, conn, p.begin)
			}
			stopped := server.Connect(t, url)
			pid := value[int](t, stopped, "SELECT pg_backend_pid()")
			late := make(chan []int64, 1)
			go func() {
				var id int64
				if err := stopped.QueryRow(context.Background(), "SELECT next_snowflake()").Scan(&id); err != nil {
					t.Error(err)
				}
				late <- []int64{id}
			}()
			server.Eventually(t, conn,
				fmt.Sprintf(`EXISTS (SELECT FROM pg_stat_activity JOIN pg_locks USING (pid)
					WHERE pid = %d AND application_name = 'held'
						AND relation = 'pgflurry.function_lock'::regclass AND granted)`, pid))
			honest := []*pgx.Conn{server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)}
			var last int64
			for range 2 {
				for _, c := range honest {
					run(t, c, "SET statement_timeout = '3s'") // it waits a second for the lock
					first := values[int64](t, c, "SELECT next_snowflake()")
					run(t, c, "SET statement_timeout = 0")
					ids := append(first, values[int64](t, c, some)...)
					if !slices.IsSorted(ids) || ids[0] <= last {
						t.Errorf("IDs do not increase: %d follows %d, or one of those behind it", ids[0], last)
					}
					last = ids[len(ids)-1]
					add(ids)
				}
			}
			run(t, conn, "SELECT pg_advisory_unlock(4242)")
			add(<-late)
			for _, c := range append(honest, conn) {
				ids := values[int64](t, c, some)
				if !slices.IsSorted(ids) || ids[0] <= last {
					t.Errorf("IDs do not increase: %d follows %d, or one of those behind it", ids[0], last)
				}
				last = ids[len(ids)-1]
				add(ids)
			}
		})
	}
}

// A session may set anything and read nothing. While it waits for its client it does not hold the lock.
func TestASessionThatDoesNotReadWaitsForItsClientWithoutTheLock(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	honest := server.Connect(t, url)
	settings := values[string](t, honest, `SELECT format('SET %s = on;', name) FROM pg_settings WHERE context = 'user'
		AND vartype = 'bool'
		AND name NOT IN ('transaction_read_only', 'default_transaction_read_only', 'transaction_deferrable',
			'exit_on_error', 'zero_damaged_pages', 'quote_all_identifiers')`)
	if len(settings) < 30 {
		t.Fatalf("only %d settings", len(settings))
	}
	hostile := role(t, url, "does_not_read")
	for i := range 12 {
		conn := server.Connect(t, hostile)
		pid := value[int](t, conn, "SELECT pg_backend_pid()")
		for _, setting := range settings {
			_, _ = conn.Exec(within(t), setting) // some settings are only valid together with others
		}
		// DISCARD PLANS makes each call print its plans; the length of the first notice decides where the socket is
		// full
		script := fmt.Sprintf(`SET client_min_messages = debug5; DO $$ BEGIN RAISE NOTICE '%%', repeat('x', %d);
			LOOP EXECUTE 'DISCARD PLANS'; PERFORM public.next_snowflake(); END LOOP; END $$`, 1+i*997)
		conn.PgConn().Frontend().SendQuery(&pgproto3.Query{String: script})
		if err := conn.PgConn().Frontend().Flush(); err != nil {
			t.Fatal(err)
		}
		server.Eventually(t, honest,
			fmt.Sprintf("EXISTS (SELECT FROM pg_stat_activity WHERE pid = %d AND wait_event = 'ClientWrite')", pid))
		const holds = `SELECT EXISTS (SELECT FROM pg_locks
			WHERE pid = %d AND granted AND relation::regclass::text LIKE '%%function_lock%%')`
		if value[bool](t, honest, fmt.Sprintf(holds, pid)) {
			t.Errorf("session %d waits for its client and holds the lock", i)
		}
		run(t, honest, "SET statement_timeout = '3s'; SELECT next_snowflake() FROM generate_series(1, 100); "+
			"SET statement_timeout = 0")
		server.Exec(t, url, fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid))
	}
	if n := value[int](t, honest, "SELECT snowflake_sequence(next_snowflake())"); n < share {
		t.Errorf("sequence %d is the stand-in's: a lock was held", n)
	}
}

func TestTheStandInHasAShareOfEachTickOfItsOwn(t *testing.T) {
	t.Parallel()
	for layout, want := range map[string]int64{"41/0/10/12": 128, "javascript": 2, "41/0/10/4": 1} {
		t.Run(layout, func(t *testing.T) {
			url := server.MigratedWith(t, migrations.Settings{Layout: layout})
			holder, conn := server.Connect(t, url), server.Connect(t, url)
			parts := func() (low, high int64) {
				ids := values[int64](t, conn,
					"SELECT snowflake_sequence(next_snowflake())::bigint FROM generate_series(1, 500)")
				return slices.Min(ids), slices.Max(ids)
			}
			if low, _ := parts(); low < want {
				t.Errorf("the function gives sequence %d, want %d or more", low, want)
			}
			server.Eventually(t, conn, "(SELECT last_value >> (SELECT 63 - timestamp_bits FROM pgflurry.namespace) "+
				"FROM pgflurry.lane) < pgflurry.ticks(clock_timestamp() - interval '30 ms')")
			run(t, holder, "BEGIN; LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE")
			if _, high := parts(); high >= want {
				t.Errorf("the stand-in gives sequence %d, want less than %d", high, want)
			}
			run(t, holder, "COMMIT")
			if low, _ := parts(); low < want {
				t.Errorf("afterwards comes sequence %d, want %d or more", low, want)
			}
		})
	}
}

// If the lane's counter runs over, the lane enters ticks that nobody has set, with counters of the stand-in's share.
func TestAStandInThatWasStoppedAndMeetsTheLaneGivesNoIDOfItsTick(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, holder, stopped := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	run(t, conn, "SELECT next_snowflake(); SELECT pg_advisory_lock(4242)")
	server.Eventually(t, conn,
		"(SELECT last_value >> 22 FROM pgflurry.lane) < pgflurry.ticks(clock_timestamp() - interval '30 ms')")
	const text = "shown := target << lane_bits |"
	rewrite(t, conn, "pgflurry.advance_slowly_stand_in(bigint)", text, held+"\n"+text, 1)
	run(t, holder, "BEGIN; LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE")
	late := make(chan error, 1)
	go func() {
		_, err := stopped.Exec(context.Background(), "SELECT next_snowflake()")
		late <- err
	}()
	server.Eventually(t, conn, `EXISTS (SELECT FROM pg_stat_activity JOIN pg_locks USING (pid)
		WHERE application_name = 'held' AND relation = 'pgflurry.function_lock_stand_in'::regclass AND granted)`)
	run(t, holder, "COMMIT")
	// one and a half seconds ahead, because the stand-in begins a second ahead
	run(t, conn, "SELECT setval('pgflurry.lane', (pgflurry.ticks(clock_timestamp()) + 1500) << 22 | 5)")
	last := value[int64](t, conn, "SELECT last_value FROM pgflurry.lane")
	run(t, conn, "SELECT pg_advisory_unlock(4242)")
	if err := <-late; err != nil {
		t.Error(err)
	}
	if tick := value[int64](t, conn, "SELECT last_value >> 22 FROM pgflurry.lane_stand_in"); tick > last>>22 {
		t.Fatalf("the stand-in's tick %d is beyond the lane's, %d, so this proves nothing", tick, last>>22)
	}
	if counter := value[int64](t, conn, "SELECT last_value & 4194303 FROM pgflurry.lane_stand_in"); counter < share {
		t.Errorf("the stand-in's next draw is an ID of counter %d, in a tick that the lane has met", counter+1)
	}
}

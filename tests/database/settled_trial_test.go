package database

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// hostile writers, each in a session of its own: what one of them does, again and again.
//
// They sleep in SQL, and so do the readers between two polls: that is the load, and no test waits for it.
var hostileWriters = map[string]string{
	"short": "INSERT INTO item (note) VALUES ('short')",
	"long":  "BEGIN; INSERT INTO item (note) VALUES ('long'); SELECT pg_sleep(0.3); COMMIT",
	"draw first": "BEGIN; SELECT set_config('app.id', next_snowflake()::text, true); SELECT pg_sleep(0.2); " +
		"INSERT INTO item (id, note) VALUES (current_setting('app.id')::bigint, 'drawn first'); COMMIT",
	"savepoints": "BEGIN; INSERT INTO item (note) VALUES ('a'); SAVEPOINT s; INSERT INTO item (note) VALUES ('b'); " +
		"ROLLBACK TO s; INSERT INTO item (note) VALUES ('c'); RELEASE s; SELECT pg_sleep(0.05); COMMIT",
	"aborts":       "BEGIN; INSERT INTO item (note) VALUES ('aborted'); ROLLBACK",
	"bulk":         "INSERT INTO item (note) SELECT 'bulk' FROM generate_series(1, 300)",
	"sleep select": "INSERT INTO item (id, note) SELECT next_snowflake(), pg_sleep(0.1)::text",
	"deferred":     "BEGIN; INSERT INTO late (note) VALUES ('x'); SELECT pg_sleep(0.02); COMMIT",
	"dies":         "BEGIN; INSERT INTO item (note) VALUES ('dies'); SELECT pg_terminate_backend(pg_backend_pid())",
}

// A pursuit follows the table while the writers write.
type pursuit struct {
	name  string
	begin string // begins the transaction of some polls; empty: each has its own
	poll  string // gives the bound or NULL, and the new rows below it. $1 is the greatest ID below the last bound
}

const settledPoll = `SELECT s, array(SELECT id FROM item WHERE id > $1 AND id < s)
	FROM (SELECT snowflake_settled('0') AS s OFFSET 0) AS asked`

var pursuits = []pursuit{
	{"id > last", "", "SELECT max(id) + 1, coalesce(array_agg(id), '{}') FROM item WHERE id > $1"},
	{"one statement", "", settledPoll},
	{"READ COMMITTED, several polls", "BEGIN", settledPoll},
	{"REPEATABLE READ, several polls", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM item", settledPoll},
	{"the row", "", "SELECT s.id, array(SELECT id FROM item WHERE id > $1 AND id < s.id) FROM settled AS s"},
}

// between is what a reader does between two polls.
const between = "SELECT pg_sleep(0.02)"

// A found is what a pursuit has found.
type found struct {
	bound int64
	ids   map[int64]bool
	nulls int
}

// follow polls until the writers have ended, and then until it has a bound above their last ID.
func (p pursuit) follow(ctx context.Context, conn *pgx.Conn, ended *atomic.Bool) (f found, err error) {
	f.ids = map[int64]bool{}
	for last := int64(0); ; {
		done := ended.Load()
		if p.begin != "" {
			if _, err := conn.Exec(ctx, p.begin); err != nil {
				return f, err
			}
		}
		for range 3 {
			var bound *int64
			var ids []int64
			if err := conn.QueryRow(ctx, p.poll, last).Scan(&bound, &ids); err != nil {
				return f, err
			}
			if bound == nil {
				f.nulls++
				continue
			}
			for _, id := range ids {
				f.ids[id] = true
			}
			f.bound = max(f.bound, *bound)
			last = max(last, f.bound-1)
		}
		if p.begin != "" {
			if _, err := conn.Exec(ctx, "COMMIT"); err != nil {
				return f, err
			}
		}
		if _, err := conn.Exec(ctx, between); done || err != nil {
			return f, err
		}
	}
}

func TestBesideHostileWritersAFollowerBelowSettledMissesNoRowAndOneByTheLastIDMissesSome(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	owner := server.Connect(t, url)
	run(t, owner, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, note text,
			tx xid8 DEFAULT pg_current_xact_id());
		CREATE TABLE late (note text);
		CREATE FUNCTION store() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN INSERT INTO item (note) VALUES ('deferred'); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER store AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION store();
		CREATE TABLE settled (id bigint NOT NULL);
		INSERT INTO settled VALUES (0)`)

	var ended, updated atomic.Bool
	var writers, readers sync.WaitGroup
	for name, script := range hostileWriters {
		for range volume.Of(1, 4) {
			writers.Go(func() {
				for range volume.Of(3, 30) {
					conn, err := pgx.Connect(t.Context(), url)
					for i := 0; i < 3 && err == nil; i++ {
						_, err = conn.Exec(t.Context(), script)
					}
					if err != nil && name != "dies" {
						t.Errorf("%s: %v", name, err)
						return
					}
					conn.Close(t.Context())
				}
			})
		}
	}
	all := make([]found, len(pursuits))
	for i, p := range pursuits {
		conn := server.Connect(t, url)
		readers.Go(func() {
			var err error
			if all[i], err = p.follow(t.Context(), conn, &ended); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
		})
	}
	var byColumn map[int64]bool
	conn := server.Connect(t, url)
	readers.Go(func() {
		var err error
		if byColumn, err = followColumn(t.Context(), conn, &ended); err != nil {
			t.Error(err)
		}
	})
	keeper := server.Connect(t, url)
	var row sync.WaitGroup
	row.Go(func() {
		for !updated.Load() {
			if _, err := keeper.Exec(t.Context(),
				"UPDATE settled SET id = greatest(id, snowflake_settled('0', later => true));"+between); err != nil {
				t.Error(err)
				return
			}
		}
	})
	writers.Wait()
	id := value[int64](t, owner, "INSERT INTO item (note) VALUES ('the last') RETURNING id")
	server.Eventually(t, owner, "(SELECT id FROM settled) > $1", id)
	ended.Store(true)
	readers.Wait()
	updated.Store(true)
	row.Wait()

	rows := values[int64](t, owner, "SELECT id FROM item")
	report := fmt.Sprintf("%d rows", len(rows))
	for i, p := range pursuits {
		below, missed := 0, 0
		for _, id := range rows {
			if id < all[i].bound {
				below++
				if !all[i].ids[id] {
					missed++
				}
			}
		}
		report += fmt.Sprintf("\n%-31s %6d below its bound, %6d missed, NULL %d times",
			p.name, below, missed, all[i].nulls)
		if below == 0 || (missed > 0) != (p.poll == pursuits[0].poll) {
			t.Errorf("%s: of %d rows below its bound it missed %d", p.name, below, missed)
		}
	}
	missed := 0
	for _, id := range rows {
		if !byColumn[id] {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("the column tx: of %d rows it missed %d", len(rows), missed)
	}
	t.Logf("%s\n%-31s %6d, %6d missed", report, "the column tx", len(byColumn), missed)
}

// followColumn follows the table by the transaction that wrote a row.
func followColumn(ctx context.Context, conn *pgx.Conn, ended *atomic.Bool) (seen map[int64]bool, err error) {
	seen = map[int64]bool{}
	for tx, last := "0", int64(0); ; {
		done := ended.Load()
		rows, err := conn.Query(ctx, `SELECT tx::text, id FROM item WHERE (tx, id) > ($1::text::xid8, $2)
			AND tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY tx, id`, tx, last)
		if err != nil {
			return nil, err
		}
		_, err = pgx.ForEachRow(rows, []any{&tx, &last}, func() error { seen[last] = true; return nil })
		if err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, between); done || err != nil {
			return seen, err
		}
	}
}

package rows

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/namespace"
	"pgflurry/internal/queries"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// room is a migrated database. The test sets the clock, the start, the timeline and the identity of the server.
type room struct {
	t      testing.TB
	conn   *pgx.Conn
	runner *pgx.Conn // runs the statements
	// what the guards make of a release; nil: they are off
	guards     func(before, here *Table, worker int, answer Answer) Answer
	settings   Settings
	oids       string
	statements map[string]string
}

// stage.sql lets the test control what the statements ask of the server.
//
//go:embed stage.sql
var stage string

// guarded.sql lets the guards hold, but not while the test loads a state.
//
//go:embed guarded.sql
var guarded string

// otherGenerators is the foreign worker of a room. Worker 0 is its function's.
const otherGenerators = 5

// newRoom makes a room whose windows are as SET sets them in the namespace row.
func newRoom(t testing.TB, unit time.Duration, windows string) *room {
	t.Helper()
	url := server.MigratedWith(t, migrations.Settings{
		Layout: "41/0/3/12", Unit: unit, DatabaseWorkers: 1,
		Foreign: &namespace.Ranges{{Lowest: otherGenerators, Highest: otherGenerators}},
	})
	r := &room{t: t, conn: server.Connect(t, url), statements: map[string]string{}}
	r.runner = r.conn
	r.do(stage)
	r.do("UPDATE pgflurry.namespace SET " + windows)
	r.do("SET search_path = pg_catalog, pg_temp; SET jit = off") // as a keeper's session
	s := &r.settings
	err := r.conn.QueryRow(context.Background(), `SELECT id::text, pgflurry.ticks_of(max_window),
		pgflurry.ticks_of(skew), pgflurry.ticks_of(quarantine), (extract(epoch FROM unit) * 1000000)::bigint,
		format('1/%s/%s/%s', (SELECT oid FROM pg_database WHERE datname = current_database()), tableoid, id)
		FROM pgflurry.namespace`).Scan(&s.Namespace, &s.MaxWindow, &s.Skew, &s.Quarantine, &s.Unit, &r.oids)
	if err != nil {
		t.Fatal(err)
	}
	s.End = 1 << 41
	for _, name := range []string{"acquire", "renew", "release", "reseed", "retire"} {
		r.use(name, r.read("../../../internal/lease/"+name+".sql"))
	}
	named, err := queries.Split(r.read("../../../internal/namespace/decide/queries.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"quarantine", "long_grants"} {
		r.use(name, named[name])
	}
	return r
}

func (r *room) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// use keeps a statement, with the clock of the stage.
func (r *room) use(name, sql string) {
	r.t.Helper()
	r.statements[name] = staged.Replace(sql)
	if !strings.Contains(r.statements[name], "stage.clock()") {
		r.t.Fatalf("statement %s asks no clock", name)
	}
}

// staged replaces what a statement asks of the server.
var staged = strings.NewReplacer("clock_timestamp()", "stage.clock()", "pg_postmaster_start_time()", "stage.started()")

func (r *room) do(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.conn.Exec(context.Background(), sql, args...); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

// run runs a statement and returns its first row as an Answer. It keeps NULL apart from an empty text. A refusal of the
// guards is an answer, too.
func (r *room) run(name string, args ...any) Answer {
	r.t.Helper()
	sql := r.statements[name]
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	texts := make([][]byte, len(args))
	for i, a := range args {
		texts[i] = []byte(fmt.Sprint(a))
	}
	prepared, err := r.runner.Prepare(ctx, sql, sql) // asks the server only the first time
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	result := r.runner.PgConn().ExecPrepared(ctx, prepared.Name, texts, nil, nil).Read()
	if result.Err == nil && len(result.FieldDescriptions) == 0 {
		return nil
	}
	if refused := (*pgconn.PgError)(nil); r.guards != nil && errors.As(result.Err, &refused) {
		return Answer{refused.Code}
	}
	if result.Err != nil || len(result.Rows) != 1 {
		r.t.Fatalf("%s: %d rows, %v", name, len(result.Rows), result.Err)
	}
	var a Answer
	for i, v := range result.Rows[0] {
		switch {
		case v == nil:
			a = append(a, nil)
		case result.FieldDescriptions[i].DataTypeOID == 16:
			a = append(a, string(v) == "t")
		case slices.Contains([]uint32{20, 23}, result.FieldDescriptions[i].DataTypeOID):
			n, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				r.t.Fatal(err)
			}
			a = append(a, n)
		default:
			a = append(a, string(v))
		}
	}
	return a
}

// load writes a state into the database.
func (r *room) load(t *Table) {
	r.t.Helper()
	batch := &pgx.Batch{}
	batch.Queue("SET stage.loading = 'on'")
	batch.Queue("UPDATE stage.server SET now = $1, started = $2, timeline = nullif($3, ''), system = 1",
		t.Now, t.Started, t.Server)
	batch.Queue("SELECT setval('pgflurry.closed', CASE WHEN $1 THEN 1 ELSE 0 END)", t.Closed)
	batch.Queue(`UPDATE pgflurry.namespace SET timeline = nullif($1, ''), acquire_after = $2, home = nullif($3, ''),
		system_identifier = CASE WHEN $4 THEN 2 ELSE 1 END, quarantine = $5::double precision * unit,
		closed_at = CASE WHEN $12 THEN now() END, generation = $6, gate_by = nullif($7, ''),
		joins_complete_on = CASE WHEN $8 THEN 'here' END,
		restart_quarantine = CASE WHEN $9::bigint >= 0 THEN $9::double precision * unit END,
		born = CASE WHEN $10 THEN stage.started() WHEN $11 THEN stage.started() - interval '1 us' END`,
		t.Timeline, t.AcquireAfter, t.Home, t.Copied, t.Quarantine, t.Generation, t.GateBy, t.Joins,
		t.RestartQuarantine, t.Born, t.Now%2 == 0, t.Closed)
	rows, err := json.Marshal(t.Rows)
	if err != nil {
		r.t.Fatal(err)
	}
	batch.Queue(`UPDATE pgflurry.worker w SET owner = nullif(s."Owner", '')::uuid, term = s."Term",
		reserved_until = s."Mark", node = nullif(s."Node", ''),
		renewed_at = CASE WHEN s."Renewed" >= 0 THEN n.epoch + s."Renewed" * n.unit END,
		released_at = CASE WHEN s."Released" THEN now() END, retired_at = CASE WHEN s."Retired" THEN now() END
		FROM pgflurry.namespace n,
			ROWS FROM (json_to_recordset($1::json) AS ("Owner" text, "Term" bigint, "Mark" bigint, "Node" text,
			"Renewed" bigint, "Released" boolean, "Retired" boolean)) WITH ORDINALITY s
				WHERE w.worker = s.ordinality - 1`, string(rows))
	batch.Queue("RESET stage.loading")
	if err := r.conn.SendBatch(context.Background(), batch).Close(); err != nil {
		r.t.Fatal(err)
	}
}

// state returns the state of the database. Fields that load does not write come from t.
func (r *room) state(t *Table) Table {
	r.t.Helper()
	after := t.Clone()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT coalesce(timeline, ''), acquire_after, pgflurry.ticks_of(quarantine), generation,
		coalesce(gate_by, ''), joins_complete_on IS NOT NULL FROM pgflurry.namespace`).QueryRow(
		func(row pgx.Row) error {
			return row.Scan(&after.Timeline, &after.AcquireAfter, &after.Quarantine, &after.Generation, &after.GateBy,
				&after.Joins)
		})
	batch.Queue(`SELECT kind <> 'proxy', coalesce(owner::text, ''), term, reserved_until, coalesce(node, ''),
		coalesce(pgflurry.ticks(renewed_at), -1), released_at IS NOT NULL, retired_at IS NOT NULL FROM pgflurry.worker
			ORDER BY worker`).
		Query(func(rows pgx.Rows) (err error) {
			after.Rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Row, err error) {
				err = row.Scan(&w.Kept, &w.Owner, &w.Term, &w.Mark, &w.Node, &w.Renewed, &w.Released, &w.Retired)
				return w, err
			})
			return err
		})
	if err := r.conn.SendBatch(context.Background(), batch).Close(); err != nil {
		r.t.Fatal(err)
	}
	return after
}

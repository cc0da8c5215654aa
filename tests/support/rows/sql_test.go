package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// room is a migrated database. The test sets the clock, the timeline and the identity of the server.
type room struct {
	t          testing.TB
	conn       *pgx.Conn
	namespace  string
	statements map[string]string
}

// stage lets the test control what the statements ask of the server. The statements call stage.clock instead of
// clock_timestamp(). The functions of schema pgflurry that ask the server read a table instead.
const stage = `
CREATE SCHEMA stage;
CREATE TABLE stage.server (now bigint, timeline text, system bigint);
INSERT INTO stage.server VALUES (0, NULL, NULL);
CREATE FUNCTION stage.clock() RETURNS timestamptz LANGUAGE sql STABLE AS
    'SELECT n.epoch + s.now * n.unit FROM stage.server s, pgflurry.namespace n';
CREATE OR REPLACE FUNCTION pgflurry.wal_timeline() RETURNS text
	LANGUAGE sql STABLE AS 'SELECT timeline FROM stage.server';
CREATE OR REPLACE FUNCTION pgflurry.system_identifier() RETURNS bigint
	LANGUAGE sql STABLE AS 'SELECT system FROM stage.server';
ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER;
UPDATE pgflurry.namespace SET max_window = '6 s', skew = '500 ms', quarantine = '7 s';
`

func newRoom(t testing.TB) *room {
	t.Helper()
	url := server.MigratedWith(t, migrations.Settings{Layout: "41/0/3/12", DatabaseWorkers: 1})
	r := &room{t: t, conn: server.Connect(t, url), statements: map[string]string{}}
	r.do(stage)
	r.do("SET search_path = pg_catalog, pg_temp; SET jit = off") // as a keeper's session
	err := r.conn.QueryRow(context.Background(), "SELECT id::text FROM pgflurry.namespace").Scan(&r.namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acquire", "renew", "release", "reseed", "retire"} {
		text, err := os.ReadFile("../../../lease/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "clock_timestamp()") {
			t.Fatalf("%s.sql asks no clock", name)
		}
		r.statements[name] = string(text)
	}
	for _, name := range []string{"quarantine", "long_grants"} {
		text, err := os.ReadFile("../../../migrations/queries/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		r.statements[name] = string(text)
	}
	return r
}

func (r *room) do(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.conn.Exec(context.Background(), sql, args...); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

// run runs a statement and returns its first row as an Answer. It keeps NULL apart from an empty text.
func (r *room) run(name string, args ...any) Answer {
	r.t.Helper()
	sql := strings.ReplaceAll(r.statements[name], "clock_timestamp()", "stage.clock()")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	texts := make([][]byte, len(args))
	for i, a := range args {
		texts[i] = []byte(fmt.Sprint(a))
	}
	prepared, err := r.conn.Prepare(ctx, sql, sql) // asks the server only the first time
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	result := r.conn.PgConn().ExecPrepared(ctx, prepared.Name, texts, nil, nil).Read()
	if result.Err == nil && len(result.FieldDescriptions) == 0 {
		return nil
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
	batch.Queue("UPDATE stage.server SET now = $1, timeline = nullif($2, ''), system = 1", t.Now, t.Server)
	batch.Queue(`UPDATE pgflurry.namespace SET timeline = nullif($1, ''), acquire_after = $2, home = nullif($3, ''),
		system_identifier = CASE WHEN $4 THEN 2 ELSE 1 END, quarantine = $5 * interval '1 ms'`,
		t.Timeline, t.AcquireAfter, t.Home, t.Copied, t.Quarantine)
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
	if err := r.conn.SendBatch(context.Background(), batch).Close(); err != nil {
		r.t.Fatal(err)
	}
}

// read returns the state of the database. Fields that load does not write come from t.
func (r *room) read(t *Table) Table {
	r.t.Helper()
	after := t.Clone()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT coalesce(timeline, ''), acquire_after, pgflurry.ticks_of(quarantine)
		FROM pgflurry.namespace`).QueryRow(
		func(row pgx.Row) error {
			return row.Scan(&after.Timeline, &after.AcquireAfter, &after.Quarantine)
		})
	batch.Queue(`SELECT kind = 'database', coalesce(owner::text, ''), term, reserved_until, coalesce(node, ''),
		coalesce(pgflurry.ticks(renewed_at), -1), released_at IS NOT NULL, retired_at IS NOT NULL FROM pgflurry.worker
			ORDER BY worker`).
		Query(func(rows pgx.Rows) (err error) {
			after.Rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Row, err error) {
				err = row.Scan(&w.Database, &w.Owner, &w.Term, &w.Mark, &w.Node, &w.Renewed, &w.Released, &w.Retired)
				return w, err
			})
			return err
		})
	if err := r.conn.SendBatch(context.Background(), batch).Close(); err != nil {
		r.t.Fatal(err)
	}
	return after
}

// anyStatement picks one of the statements.
func anyStatement(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"acquire", "acquire", "renew", "renew", "renew", "release", "reseed", "retire", "quarantine", "long_grants",
	}).Draw(t, "statement")
}

// compare runs a statement on one state in both places. It returns the difference, or "".
func (r *room) compare(t *rapid.T, statement string) string {
	before := r.anyTable(t)
	here := before.Clone()
	r.load(&before)
	var want, got Answer
	switch statement {
	case "acquire":
		a := r.anyAcquire(t)
		got = r.run("acquire", a.Namespace, a.Owner, a.Node, "address", "version", a.Window, a.Lowest, a.Highest,
			a.Longest)
		taken, _ := got[4].(int64)
		var may []int
		want = here.Acquire(a, func(workers []int) int {
			if may = workers; slices.Contains(workers, int(taken)) {
				return int(taken)
			}
			return workers[0]
		})
		if may != nil && !slices.Contains(may, int(taken)) {
			return fmt.Sprintf("acquire %+v on %+v took worker %v, expected one of %d", a, before, got[4], may)
		}
	case "renew":
		n := r.anyRenew(t, &before)
		got = r.run("renew", n.Namespace, n.Worker, n.Owner, n.Term, n.Acknowledged, n.Wanted, n.Window)
		want = here.Renew(n)
	case "release":
		n := r.anyRenew(t, &before)
		l := Release{
			Namespace: n.Namespace, Worker: n.Worker, Owner: n.Owner, Term: n.Term, Acknowledged: n.Acknowledged,
		}
		got = r.run("release", l.Namespace, l.Worker, l.Owner, l.Term, l.Acknowledged)
		want = here.Release(l)
	case "reseed":
		got = r.run("reseed")
		want = here.Reseed(func() string { return "new" })
	case "quarantine":
		quarantine := rapid.SampledFrom([]int64{7000, 9000}).Draw(t, "quarantine")
		got = r.run("quarantine", quarantine*1000)
		here.SetQuarantine(quarantine)
	case "long_grants":
		got = r.run("long_grants")
		want = Answer{here.LongGrants()}
	case "retire":
		worker, held := rapid.IntRange(0, len(before.Rows)-1).Draw(t, "worker"), rapid.Bool().Draw(t, "held")
		got = r.run("retire", worker, held)[:1]
		want = Answer{here.Retire(worker, held)}
	}
	there := r.read(&before)
	for i := range there.Rows { // the server chooses the new owners
		if there.Rows[i].Owner != before.Rows[i].Owner && here.Rows[i].Owner == "new" {
			there.Rows[i].Owner = "new"
		}
	}
	if fmt.Sprint(want) != fmt.Sprint(got) || fmt.Sprintf("%+v", here) != fmt.Sprintf("%+v", there) {
		return fmt.Sprintf("before: %+v\nanswer: %v\n  here: %v\nPostgreSQL: %+v\n      here: %+v",
			before, got, want, there, here)
	}
	return ""
}

// Few nodes, owners and times, so that they coincide.
var nodes = []string{"a", "b"}

func owner(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func (r *room) anyTable(t *rapid.T) Table {
	now := rapid.Int64Range(1_000_000, 1_000_010).Draw(t, "now")
	if rapid.IntRange(0, 30).Draw(t, "end of time") == 0 {
		now = 1<<41 - 3 + rapid.Int64Range(0, 4).Draw(t, "end")
	}
	table := Table{
		Settings: Settings{
			Namespace: r.namespace, MaxWindow: 6000, Skew: 500, End: 1 << 41, Unit: 1000,
		},
		Now: now, Server: rapid.SampledFrom([]string{"00000001", "00000001", "00000002", ""}).Draw(t, "server"),
		Timeline: rapid.SampledFrom([]string{"00000001", "00000001", "00000001", "00000002", ""}).Draw(t,
			"timeline"),
		AcquireAfter: max(0, now+rapid.SampledFrom(gates).Draw(t, "acquire after")),
		Copied:       rapid.IntRange(0, 19).Draw(t, "copied") == 0,
		Rows:         make([]Row, 8),
	}
	table.Quarantine = rapid.SampledFrom([]int64{7000, 7000, 7000, 8000}).Draw(t, "quarantine before")
	if rapid.IntRange(0, 19).Draw(t, "elsewhere") == 0 {
		table.Home = "elsewhere"
	}
	for i := range table.Rows {
		table.Rows[i] = anyRow(t, now)
		table.Rows[i].Database = i == 0
	}
	return table
}

// edges are the distances from now at which a decision changes.
var edges = []int64{
	-16_000, -8500, -7001, -7000, -6999, -6501, -6500, -6499, -1000, -1, 0, 1, 500, 3000, 6000, 6500, 6501,
	20_000,
}

// gates are the same for the gate. The first one means that there was no gate yet.
var gates = []int64{-1 << 40, -9001, -9000, -1500, -1, 0, 1, 9000}

func anyRow(t *rapid.T, now int64) Row {
	if rapid.IntRange(0, 2).Draw(t, "never used") == 0 {
		return Row{
			Renewed: -1, Mark: rapid.SampledFrom([]int64{0, 0, now - 1, now, now + 1}).Draw(t, "mark of never used"),
		}
	}
	return Row{
		Owner: owner(rapid.IntRange(1, 2).Draw(t, "owner")), Term: rapid.Int64Range(1, 2).Draw(t, "term"),
		Mark:     now + rapid.SampledFrom(edges).Draw(t, "mark"),
		Renewed:  rapid.SampledFrom([]int64{-1, now - 5000, now - 1, now, now + 1, now + 5000}).Draw(t, "renewed"),
		Node:     rapid.SampledFrom(nodes).Draw(t, "node"),
		Released: rapid.IntRange(0, 2).Draw(t, "released") == 0, Retired: rapid.IntRange(0, 5).Draw(t, "retired") == 0,
	}
}

func (r *room) anyNamespace(t *rapid.T) string {
	if rapid.IntRange(0, 19).Draw(t, "another namespace") == 0 {
		return owner(99)
	}
	return r.namespace
}

func (r *room) anyAcquire(t *rapid.T) Acquire {
	a := Acquire{
		Namespace: r.anyNamespace(t), Owner: owner(3), Node: rapid.SampledFrom(append(nodes, "c")).Draw(t, "node"),
		Window: rapid.SampledFrom([]int64{1000, 6000, 60_000}).Draw(t, "window"), Highest: 65535,
		Longest: rapid.SampledFrom([]int64{1000, 6000, 6001, 7500, 15_000}).Draw(t, "longest"),
	}
	if rapid.Bool().Draw(t, "datacenter") {
		a.Lowest = rapid.IntRange(0, 7).Draw(t, "lowest")
		a.Highest = rapid.IntRange(a.Lowest, 8).Draw(t, "highest")
	}
	return a
}

// anyRenew mostly fits the row.
func (r *room) anyRenew(t *rapid.T, table *Table) Renew {
	worker := rapid.IntRange(0, 7).Draw(t, "worker")
	w := table.Rows[worker]
	n := Renew{
		Namespace: r.anyNamespace(t), Worker: worker, Owner: w.Owner, Term: w.Term,
		Acknowledged: max(0, w.Mark+rapid.SampledFrom([]int64{0, 0, -1, 1, -5000}).Draw(t, "acknowledged")),
		Wanted:       table.Now + rapid.SampledFrom(edges).Draw(t, "wanted"),
		Window:       rapid.SampledFrom([]int64{1000, 6000, 60_000}).Draw(t, "window"),
	}
	if n.Owner == "" || rapid.IntRange(0, 7).Draw(t, "another owner") == 0 {
		n.Owner = owner(rapid.IntRange(1, 3).Draw(t, "owner"))
	}
	if rapid.IntRange(0, 7).Draw(t, "another term") == 0 {
		n.Term = rapid.Int64Range(0, 3).Draw(t, "term")
	}
	return n
}

func TestTheTableDecidesAsTheStatementsDoFromAnyState(t *testing.T) {
	r := newRoom(t)
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			if what := r.compare(t, anyStatement(t)); what != "" {
				t.Fatal(what)
			}
		})
	}
}

//go:build full

package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// moving is the page about moving tables in and out.
const moving = "../../docs/moving.md"

// blocks returns the SQL blocks of the page, each as a list of statements.
func blocks(t *testing.T) (all [][]string) {
	t.Helper()
	for _, block := range deeds.Blocks(t, moving, "sql") {
		var statements []string
		var one strings.Builder
		quoted := false
		for line := range strings.Lines(block) {
			code, _, _ := strings.Cut(line, "--")
			one.WriteString(strings.TrimRight(code, " \n") + "\n")
			if strings.Count(code, "$$")%2 == 1 {
				quoted = !quoted
			}
			if !quoted && strings.HasSuffix(strings.TrimSpace(code), ";") {
				statements = append(statements, strings.TrimSpace(one.String()))
				one.Reset()
			}
		}
		if strings.TrimSpace(one.String()) != "" {
			t.Fatalf("a block of the page ends within a statement: %s", one.String())
		}
		all = append(all, statements)
	}
	return all
}

// plain removes from a statement what may differ between a page and a plan: the line breaks, and the way in which texts
// are quoted.
func plain(statement string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("'", "", "$$", "", ";", "").Replace(statement)), " ")
}

// path returns the block that widens a table, and the blocks before it. A test of the command runs those after it.
func path(t *testing.T) (before [][]string, statements []string) {
	t.Helper()
	all := blocks(t)
	at := slices.IndexFunc(all, func(block []string) bool { return block[0] == "BEGIN;" })
	if at < 7 {
		t.Fatalf("block %d of the page begins a transaction; expected 7 or more before it", at+1)
	}
	return all[:at], all[at]
}

// wide are the arguments of the plan that widens goods.
const wide = "'goods', rewrite => false"

func TestThePageAboutMovingSaysWhatHappens(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	before, _ := path(t)
	page, err := os.ReadFile(moving)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range before {
		for _, statement := range block {
			server.Do(t, conn, statement)
			if statement == "SELECT pgflurry.convert_to_snowflake('item');" {
				err := server.Refused(t, conn, "2200H", "SELECT nextval('item_id_seq')")
				if !strings.Contains(string(page), "\nERROR:  "+err.Message+"\n") {
					t.Errorf("the page does not show %q", err.Message)
				}
				server.Refused(t, conn, "22003", "SELECT setval('item_id_seq', (SELECT max(id) + 1 FROM item))")
				server.Do(t, conn, "INSERT INTO item (name) VALUES ('new')")
				const mixed = `SELECT string_agg(concat_ws(' ', id < snowflake_floor('-infinity'),
						snowflake_time(id) IS NULL, id >= snowflake_floor('2024-01-01'),
						id <= snowflake_ceil(now() + interval '1 minute')), ',' ORDER BY id)
					FROM item`
				if got := server.Value[string](t, conn, mixed); got != "t t f t,t t f t,f f t t" {
					t.Errorf("old keys and an ID are %s", got)
				}
				server.Do(t, conn, "DELETE FROM item WHERE name = 'new'")
			}
		}
	}
}

func TestThePageShowsThePathThatThePlanGives(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	before, statements := path(t)
	for _, statement := range before[len(before)-1] {
		server.Do(t, conn, statement)
	}
	plan := planned(t, conn, wide)
	for i := range max(len(plan), len(statements)) {
		if i >= len(plan) || i >= len(statements) || plain(plan[i]) != plain(statements[i]) {
			t.Fatalf("statement %d of the page is not that of the plan:\n%q\n%q", i+1,
				slices.Concat(statements, []string{""})[min(i, len(statements))],
				slices.Concat(plan, []string{""})[min(i, len(plan))])
		}
	}
}

// A mover runs the statements of a plan as the page says: if a transaction does not get its lock, it begins again.
type mover struct {
	conn, reader *pgx.Conn // reader makes each first attempt fail
	retries      int
	notices      []string // what a transaction reads or writes beside the catalogs
}

func (m *mover) run(t *testing.T, statements []string) {
	t.Helper()
	for len(statements) > 0 {
		end := 1
		if statements[0] == "BEGIN" {
			end = slices.Index(statements, "COMMIT") + 1
			server.Do(t, m.reader, "BEGIN; SELECT count(*) FROM goods, stock WHERE false")
			server.Do(t, m.conn, "SET client_min_messages = debug1")
		}
		for !m.all(t, statements[:end]) {
			m.retries++
			server.Do(t, m.conn, "ROLLBACK")
			server.Do(t, m.reader, "COMMIT")
		}
		server.Do(t, m.conn, "RESET client_min_messages")
		server.Do(t, m.reader, "COMMIT")
		statements = statements[end:]
	}
}

// all runs some statements. It returns false if it could not get a lock.
func (m *mover) all(t *testing.T, statements []string) bool {
	t.Helper()
	for _, statement := range statements {
		_, err := m.conn.Exec(server.Within(t), statement, pgx.QueryExecModeSimpleProtocol)
		if refused := new(pgconn.PgError); errors.As(err, &refused) && refused.Code == "55P03" {
			return false
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return true
}

// A writer adds, changes and removes rows of both tables until stop is closed. It remembers the rows that must be
// there.
type writer struct {
	conn *pgx.Conn
	rows []int64 // keys of the rows that must be there
	err  error
}

func (w *writer) work(ctx context.Context, stop <-chan struct{}, working func()) {
	for i := 0; w.err == nil; i++ {
		var id int64
		w.err = pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, "INSERT INTO goods (name) VALUES ('new') RETURNING id").Scan(&id); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO stock (goods_id, n) VALUES (%d, 1), (%d, 2)", id, id))
			return err
		})
		if w.err != nil {
			return
		}
		w.rows = append(w.rows, id)
		change := fmt.Sprintf("UPDATE goods SET name = 'changed' WHERE id = %d", w.rows[i%len(w.rows)])
		if i%5 == 4 {
			change = fmt.Sprintf("DELETE FROM goods WHERE id = %d", w.rows[0])
			w.rows = w.rows[1:]
		}
		if _, w.err = w.conn.Exec(ctx, change); i == 10 {
			working()
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

func TestALargeTableIsMovedWithoutALongLockAndNoRowOfItsWritersIsLost(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	m := &mover{reader: server.Connect(t, url)}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		for _, work := range []string{
			"rewriting table", "verifying table", "building index", "validating foreign key",
		} {
			if strings.HasPrefix(n.Message, work) {
				m.notices = append(m.notices, n.Message)
			}
		}
	}
	if m.conn, err = pgx.ConnectConfig(server.Within(t), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.conn.Close(context.WithoutCancel(t.Context())) })
	server.Do(t, m.conn, `CREATE TABLE goods (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE stock (id bigserial PRIMARY KEY, goods_id integer NOT NULL REFERENCES goods ON DELETE CASCADE,
			n integer);
		CREATE INDEX stock_goods_id_idx ON stock (goods_id);
		INSERT INTO goods (name) SELECT 'old' FROM generate_series(1, 30000);
		INSERT INTO stock (goods_id, n) SELECT id, 0 FROM goods`)
	const files = "SELECT pg_relation_filenode('goods') || ' ' || pg_relation_filenode('stock')"
	was := server.Value[string](t, m.conn, files)

	stop := make(chan struct{})
	var done, working sync.WaitGroup
	writers := make([]*writer, 3)
	for i := range writers {
		config := config.Copy()
		config.OnNotice, config.DefaultQueryExecMode = nil, pgx.QueryExecModeSimpleProtocol
		conn, err := pgx.ConnectConfig(server.Within(t), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		w, ctx := &writer{conn: conn}, server.Within(t)
		writers[i] = w
		working.Add(1)
		begun := sync.OnceFunc(working.Done)
		done.Go(func() { w.work(ctx, stop, begun); begun() })
	}
	working.Wait()
	m.run(t, planned(t, m.conn, wide))
	close(stop)
	done.Wait()

	rows := 30000
	for _, w := range writers {
		if w.err != nil {
			t.Errorf("a writer failed: %v (%s)", w.err, server.Hint(w.err))
		}
		rows += len(w.rows)
		const kept = `SELECT count(*) FROM unnest($1::bigint[]) AS mine (id)
			WHERE (SELECT count(*) FROM goods AS g JOIN stock AS s ON s.goods_id = g.id WHERE g.id = mine.id) = 2`
		if n := server.Value[int](t, m.conn, kept, w.rows); n != len(w.rows) {
			t.Errorf("%d of %d rows of a writer are there", n, len(w.rows))
		}
	}
	if n := server.Value[int](t, m.conn, "SELECT count(*) FROM goods"); n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
	if m.retries == 0 || len(m.notices) > 0 {
		t.Errorf("%d transactions began again, want some; within transactions: %q, want nothing", m.retries, m.notices)
	}
	if is := server.Value[string](t, m.conn, files); is != was {
		t.Errorf("a table was written anew: files %s, and were %s", is, was)
	}
	const moved = "SELECT id >= snowflake_floor('-infinity') FROM (SELECT next_snowflake() AS id) AS n"
	server.Do(t, m.conn, "INSERT INTO goods (name) VALUES ('moved')")
	if !server.Value[bool](t, m.conn, moved+" WHERE id > (SELECT max(id) FROM goods)") {
		t.Error("new rows do not get IDs")
	}
	stops(t, m.conn, "goods_id_seq")
}

func TestASequenceThatIsSetToTheGreatestIDGivesIDsOfWorkers(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, "CREATE TABLE item (id bigserial PRIMARY KEY); INSERT INTO item DEFAULT VALUES; "+
		"SELECT pgflurry.convert_to_snowflake('item', old_sequence => 'leave'); INSERT INTO item DEFAULT VALUES")
	// the greatest ID of a tick and a worker
	server.Do(t, conn, "INSERT INTO item SELECT max(id) | 4095 FROM item; "+
		"SELECT setval('item_id_seq', (SELECT max(id) FROM item))")
	const drawn = "SELECT snowflake_worker(n) || ' ' || snowflake_sequence(n) FROM nextval('item_id_seq') AS n"
	if got := server.Value[string](t, conn, drawn); got != "1 0" {
		t.Errorf("the sequence gave worker and sequence %s", got)
	}
	server.Do(t, conn,
		"SELECT setval('item_id_seq', (SELECT max(id) FROM item WHERE id < snowflake_floor('-infinity')))")
	if n := server.Value[int64](t, conn, "SELECT nextval('item_id_seq')"); n != 2 {
		t.Errorf("after the greatest old key it gave %d", n)
	}
}

//go:build full

package clients

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// speaker has a conversation, perhaps through a pooler, and notes every answer.
type speaker struct {
	t         *testing.T
	url       string
	mode      pgx.QueryExecMode
	conn      *pgx.Conn
	said, ids []string
}

func (s *speaker) connect() *pgx.Conn {
	s.t.Helper()
	return server.Connect(s.t, s.url+"&default_query_exec_mode="+queryModes[s.mode])
}

// queryModes has the names of the modes in pgx's connection strings.
var queryModes = map[pgx.QueryExecMode]string{
	pgx.QueryExecModeCacheStatement: "cache_statement", pgx.QueryExecModeCacheDescribe: "cache_describe",
	pgx.QueryExecModeDescribeExec: "describe_exec", pgx.QueryExecModeExec: "exec",
	pgx.QueryExecModeSimpleProtocol: "simple_protocol",
}

// ask runs a statement and notes its rows or its error, and its tag.
func (s *speaker) ask(sql string, arguments ...any) {
	s.t.Helper()
	rows, _ := s.conn.Query(s.t.Context(), sql, arguments...)
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		return fmt.Sprint(values), err
	})
	for i, row := range got {
		s.ids = append(s.ids, deeds.AnID.FindAllString(row, -1)...)
		got[i] = deeds.AnID.ReplaceAllString(row, "ID")
	}
	if said := new(pgconn.PgError); errors.As(err, &said) {
		s.note(sql, said.Severity, said.Code, said.Message)
		return
	} else if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	s.note(sql, got, rows.CommandTag(), string(s.conn.PgConn().TxStatus()))
}

func (s *speaker) note(what ...any) { s.said = append(s.said, fmt.Sprintln(what...)) }

const draw = "SELECT next_snowflake()"

// transactions is a conversation that a pooler in transaction mode allows.
func transactions(s *speaker) {
	s.ask("TRUNCATE item")
	for n := range 5 {
		s.ask(draw)
		s.ask("SELECT $1::int + 1", n)
	}
	s.ask("BEGIN")
	s.ask(draw)
	s.ask("INSERT INTO item (id, name) VALUES (next_snowflake(), 'one'), (DEFAULT, 'two') RETURNING id, name")
	s.ask("COMMIT")
	s.ask("SELECT count(*) FROM item")
	s.ask("BEGIN")
	s.ask(draw)
	s.ask("SELECT 1/0")
	s.ask(draw)
	s.ask("ROLLBACK")
	s.ask(draw)
	s.ask("SET LOCAL statement_timeout = '1s'")
	s.batch()
	s.copy()
	s.ask(draw)
}

// session is a conversation that needs a server connection for itself.
func session(s *speaker) {
	transactions(s)
	s.ask("SET application_name = 'pooled'")
	s.ask("CREATE TEMP TABLE mine (id bigint DEFAULT next_snowflake())")
	s.ask("INSERT INTO mine DEFAULT VALUES RETURNING id")
	s.ask("PREPARE draw AS SELECT next_snowflake()")
	s.ask("EXECUTE draw")
	s.ask(draw)
	s.ask("SHOW application_name")
	s.ask("LISTEN news")
	s.ask(draw)
	s.ask("NOTIFY news, 'hello'")
	heard, err := s.conn.WaitForNotification(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.note(heard.Channel, heard.Payload)
	s.cancel()
	s.ask("DISCARD ALL")
	s.ask(draw)
}

// batch sends draws and other statements together.
func (s *speaker) batch() {
	s.t.Helper()
	var batch pgx.Batch
	for n := range 10 {
		batch.Queue(draw).QueryRow(func(row pgx.Row) error {
			var id int64
			err := row.Scan(&id)
			s.ids = append(s.ids, fmt.Sprint(id))
			return err
		})
		batch.Queue("SELECT set_config('client.n', $1, true)", fmt.Sprint(n)).QueryRow(func(row pgx.Row) error {
			var number string
			err := row.Scan(&number)
			s.note("batch", number)
			return err
		})
	}
	if err := s.conn.SendBatch(s.t.Context(), &batch).Close(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *speaker) copy() {
	s.t.Helper()
	rows := pgx.CopyFromSlice(2, func(i int) ([]any, error) { return []any{fmt.Sprint("copied ", i)}, nil })
	n, err := s.conn.CopyFrom(s.t.Context(), pgx.Identifier{"item"}, []string{"name"}, rows)
	s.note("COPY", n, err)
	s.ask("SELECT name FROM item ORDER BY id")
}

// cancel cancels a sleeping statement, through all that stands between client and server.
func (s *speaker) cancel() {
	s.t.Helper()
	other := s.connect()
	said := make(chan error, 1)
	go func() {
		_, err := s.conn.Exec(s.t.Context(), "SELECT pg_sleep(60)")
		said <- err
	}()
	for n := 0; n == 0; {
		n = server.Value[int](s.t, other,
			"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()")
	}
	if err := s.conn.PgConn().CancelRequest(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.note("cancelled:", <-said)
}

// fromMemory fails unless the proxy gave at least one of the IDs.
func fromMemory(t *testing.T, ids []string) {
	t.Helper()
	for _, id := range ids {
		if deeds.WorkerOf(t, id) != deeds.DatabaseWorker {
			return
		}
	}
	t.Errorf("no ID of %d came from the proxy's memory", len(ids))
}

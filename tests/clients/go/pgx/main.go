// pgx does the deeds with jackc/pgx. CLIENT_MODE is its default_query_exec_mode.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"clients/report"
)

var ctx = context.Background()

// connect opens a connection. PGHOST and its like fill in what the settings leave out.
func connect(settings ...string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, place(settings...))
}

func place(settings ...string) string {
	return strings.Join(append(settings, "default_query_exec_mode="+os.Getenv("CLIENT_MODE")), " ")
}

func login(role string, more ...string) func() (any, []int64, error) {
	return func() (any, []int64, error) {
		conn, err := connect(append(more, "user="+role, "password="+report.Password)...)
		if err != nil {
			return nil, nil, err
		}
		defer conn.Close(ctx)
		var user string
		if err := conn.QueryRow(ctx, "SELECT current_user").Scan(&user); err != nil {
			return nil, nil, err
		}
		_, err = connect(append(more, "user="+role, "password=wrong")...)
		return []any{user, refused(err)}, nil, nil
	}
}

// refused reports an error that the deed expects.
func refused(err error) any {
	var said *pgconn.PgError
	if errors.As(err, &said) && report.Bare() {
		return []string{said.Severity, said.Code, said.Message}
	} else if said != nil {
		return []string{said.Severity, said.Code, said.Message, said.Routine}
	}
	return fmt.Sprint(err)
}

func draw(conn *pgx.Conn) (id int64, err error) {
	err = conn.QueryRow(ctx, "SELECT next_snowflake()").Scan(&id)
	return id, err
}

// with runs a deed on a connection of its own.
func with(do func(conn *pgx.Conn) (any, []int64, error)) func() (any, []int64, error) {
	return func() (any, []int64, error) {
		conn, err := connect()
		if err != nil {
			return nil, nil, err
		}
		defer conn.Close(ctx)
		return do(conn)
	}
}

func unprepared(conn *pgx.Conn) (any, []int64, error) {
	rows, err := conn.Query(ctx, "SELECT next_snowflake()")
	if err != nil {
		return nil, nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return []any{rows.FieldDescriptions(), rows.CommandTag().String()}, ids, err
}

func prepared(conn *pgx.Conn) (any, []int64, error) {
	statement, err := conn.Prepare(ctx, "draw", "SELECT next_snowflake() AS id")
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	for i := range 20 {
		var id int64
		if err := conn.QueryRow(ctx, "draw", pgx.QueryResultFormats{int16(i % 2)}).Scan(&id); err != nil {
			return nil, nil, err
		}
		ids = append(ids, id)
	}
	return []any{statement.ParamOIDs, statement.Fields}, ids, conn.Deallocate(ctx, "draw")
}

// snippet: begin
// drawAll draws n IDs in one round trip.
func drawAll(ctx context.Context, conn *pgx.Conn, n int) ([]int64, error) {
	var batch pgx.Batch
	ids := make([]int64, n)
	for i := range ids {
		batch.Queue("SELECT next_snowflake()").QueryRow(func(row pgx.Row) error { return row.Scan(&ids[i]) })
	}
	return ids, conn.SendBatch(ctx, &batch).Close()
}

// orderWithLines copies the rows that use the IDs in another.
func orderWithLines(ctx context.Context, conn *pgx.Conn, lines []string) ([]int64, error) {
	ids, err := drawAll(ctx, conn, len(lines))
	if err != nil {
		return nil, err
	}
	rows := pgx.CopyFromSlice(len(lines), func(i int) ([]any, error) { return []any{ids[i], lines[i]}, nil })
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"item"}, []string{"id", "name"}, rows)
	return ids, err
}

// snippet: end

func pipeline(conn *pgx.Conn) (any, []int64, error) {
	if report.Bare() {
		ids, err := drawAll(ctx, conn, 50)
		return nil, ids, err
	}
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i)
	}
	ids, err := orderWithLines(ctx, conn, lines)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	err = conn.QueryRow(ctx, "SELECT array_agg(name ORDER BY id) FROM item WHERE name LIKE 'line %'").Scan(&names)
	return names, ids, err
}

func mixed(conn *pgx.Conn) (any, []int64, error) {
	var batch pgx.Batch
	ids, numbers := make([]int64, 20), make([]string, 20)
	for i := range ids {
		batch.Queue("SELECT next_snowflake()").QueryRow(func(row pgx.Row) error { return row.Scan(&ids[i]) })
		batch.Queue("SELECT set_config('client.n', $1, true)", strconv.Itoa(i)).
			QueryRow(func(row pgx.Row) error { return row.Scan(&numbers[i]) })
	}
	err := conn.SendBatch(ctx, &batch).Close()
	return numbers, ids, err
}

func transaction(conn *pgx.Conn) (any, []int64, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	first, err := draw(conn)
	if err != nil {
		return nil, nil, err
	}
	status := string(conn.PgConn().TxStatus())
	tag, err := tx.Exec(ctx, "INSERT INTO item (id, name) VALUES ($1, 'gone')", first)
	if err != nil {
		return nil, nil, err
	}
	var seen, left int
	const count = "SELECT count(*) FROM item WHERE id = $1"
	err = errors.Join(tx.QueryRow(ctx, count, first).Scan(&seen), tx.Rollback(ctx),
		conn.QueryRow(ctx, count, first).Scan(&left))
	if err != nil {
		return nil, nil, err
	}
	if tx, err = conn.Begin(ctx); err != nil {
		return nil, nil, err
	}
	_, zero := tx.Exec(ctx, "SELECT 1/0")
	_, failed := draw(conn)
	broken := string(conn.PgConn().TxStatus())
	committed := tx.Commit(ctx)
	last, err := draw(conn)
	return []any{status, tag.String(), seen, left, refused(zero), refused(failed), broken, refused(committed)},
		[]int64{first, last}, err
}

func commit(conn *pgx.Conn) (any, []int64, error) {
	var ids [3]int64
	var refusal error
	for i, end := range []func(pgx.Tx, context.Context) error{pgx.Tx.Commit, pgx.Tx.Rollback, pgx.Tx.Rollback} {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return nil, nil, err
		}
		if ids[i], err = draw(conn); err != nil {
			return nil, nil, err
		}
		if i == 2 {
			_, _ = tx.Exec(ctx, "SELECT 1/0")
			_, refusal = draw(conn)
		}
		if err := end(tx, ctx); err != nil {
			return nil, nil, err
		}
	}
	last, err := draw(conn)
	return refused(refusal), append(ids[:], last), err
}

func copies(conn *pgx.Conn) (any, []int64, error) {
	if _, err := conn.Exec(ctx, "TRUNCATE item"); err != nil {
		return nil, nil, err
	}
	tag, err := conn.PgConn().CopyFrom(ctx, strings.NewReader("one\ntwo\n"), "COPY item (name) FROM STDIN")
	if err != nil {
		return nil, nil, err
	}
	var out strings.Builder
	if _, err := conn.PgConn().CopyTo(ctx, &out, "COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT"); err != nil {
		return nil, nil, err
	}
	var ids [3]int64
	var names [2]string
	if _, err := fmt.Sscan(out.String(), &ids[0], &names[0], &ids[1], &names[1]); err != nil {
		return nil, nil, err
	}
	ids[2], err = draw(conn)
	return []any{tag.String(), names}, ids[:], err
}

func notify(listener *pgx.Conn) (any, []int64, error) {
	sender, err := connect()
	if err != nil {
		return nil, nil, err
	}
	defer sender.Close(ctx)
	if _, err := listener.Exec(ctx, "LISTEN news"); err != nil {
		return nil, nil, err
	}
	id, err := draw(listener)
	if err != nil {
		return nil, nil, err
	}
	if _, err := sender.Exec(ctx, "NOTIFY news, 'hello'"); err != nil {
		return nil, nil, err
	}
	heard, err := listener.WaitForNotification(ctx)
	if err != nil {
		return nil, nil, err
	}
	return []string{heard.Channel, heard.Payload}, []int64{id}, nil
}

func cancel(sleeper *pgx.Conn) (any, []int64, error) {
	other, err := connect()
	if err != nil {
		return nil, nil, err
	}
	defer other.Close(ctx)
	said := make(chan error, 1)
	go func() {
		_, err := sleeper.Exec(ctx, "SELECT pg_sleep(60)")
		said <- err
	}()
	for n := 0; n == 0; {
		if err := other.QueryRow(ctx, report.Asleep).Scan(&n); err != nil {
			return nil, nil, err
		}
	}
	if err := sleeper.PgConn().CancelRequest(ctx); err != nil {
		return nil, nil, err
	}
	cancelled := refused(<-said)
	id, err := draw(sleeper)
	return cancelled, []int64{id}, err
}

func byDefault(conn *pgx.Conn) (any, []int64, error) {
	rows, err := conn.Query(ctx, "INSERT INTO item (name) VALUES ($1) RETURNING id", "new")
	if err != nil {
		return nil, nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return rows.CommandTag().String(), ids, err
}

func fromPool() (any, []int64, error) {
	pool, err := pgxpool.New(ctx, place("pool_max_conns=2"))
	if err != nil {
		return nil, nil, err
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil {
		return nil, nil, err
	}
	return report.FromPool(func() (id int64, err error) {
		err = pool.QueryRow(ctx, "SELECT next_snowflake()").Scan(&id)
		return id, err
	})
}

func drawMany(n int) (ids []int64, err error) {
	conn, err := connect()
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	for range n {
		id, err := draw(conn)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func main() {
	report.Run(
		"github.com/jackc/pgx/v5",
		report.Deed{Name: "password", Do: login(report.PasswordRole)},
		report.Deed{Name: "scram", Do: login(report.SCRAMRole())},
		report.Deed{
			Name: "tls", Do: login(report.SCRAMRole(), "sslmode=verify-full", "sslrootcert="+os.Getenv("CLIENT_CA")),
		},
		report.Deed{Name: "unprepared", Do: with(unprepared)},
		report.Deed{Name: "prepared", Do: with(prepared)},
		report.Deed{Name: "pipeline", Do: with(pipeline)},
		report.Deed{Name: "mixed", Do: with(mixed)},
		report.Deed{Name: "transaction", Do: with(transaction)},
		report.Deed{Name: "commit", Do: with(commit)},
		report.Deed{Name: "copy", Do: with(copies)},
		report.Deed{Name: "notify", Do: with(notify)},
		report.Deed{Name: "cancel", Do: with(cancel)},
		report.Deed{Name: "default", Do: with(byDefault)},
		report.Deed{Name: "pool", Do: fromPool},
		report.Deed{Name: "parallel", Do: func() (any, []int64, error) { return report.InParallel(drawMany) }},
	)
}

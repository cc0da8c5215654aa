// pq does the deeds with lib/pq below database/sql. CLIENT_MODE is added to its connection string.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/lib/pq"

	"clients/report"
)

var ctx = context.Background()

// open opens a pool of one connection. PGHOST and its like fill in what the settings leave out.
func open(settings ...string) (*sql.DB, error) {
	db, err := sql.Open("postgres", strings.Join(append(settings, os.Getenv("CLIENT_MODE")), " "))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, db.PingContext(ctx)
}

func login(role string, more ...string) func() (any, []int64, error) {
	return func() (any, []int64, error) {
		db, err := open(append(more, "user="+role, "password="+report.Password)...)
		if err != nil {
			return nil, nil, err
		}
		defer db.Close()
		var user string
		if err := db.QueryRow("SELECT current_user").Scan(&user); err != nil {
			return nil, nil, err
		}
		_, err = open(append(more, "user="+role, "password=wrong")...)
		return []any{user, refused(err)}, nil, nil
	}
}

// refused reports an error that the deed expects.
func refused(err error) any {
	var said *pq.Error
	if errors.As(err, &said) && report.Bare() {
		return []string{said.Severity, string(said.Code), said.Message}
	} else if said != nil {
		return []string{said.Severity, string(said.Code), said.Message, said.Routine}
	}
	return fmt.Sprint(err)
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(sql string, arguments ...any) *sql.Row
}

func draw(db querier) (id int64, err error) {
	err = db.QueryRow("SELECT next_snowflake()").Scan(&id)
	return id, err
}

// with runs a deed on a connection of its own.
func with(do func(db *sql.DB) (any, []int64, error)) func() (any, []int64, error) {
	return func() (any, []int64, error) {
		db, err := open()
		if err != nil {
			return nil, nil, err
		}
		defer db.Close()
		return do(db)
	}
}

func unprepared(db *sql.DB) (any, []int64, error) {
	rows, err := db.Query("SELECT next_snowflake()")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, err
	}
	var value any
	for rows.Next() {
		if err := rows.Scan(&value); err != nil {
			return nil, nil, err
		}
	}
	id, _ := value.(int64)
	return []any{types[0].Name(), types[0].DatabaseTypeName(), types[0].ScanType().String()}, []int64{id}, rows.Err()
}

func prepared(db *sql.DB) (any, []int64, error) {
	statement, err := db.Prepare("SELECT next_snowflake() AS id")
	if err != nil {
		return nil, nil, err
	}
	ids := make([]int64, 20)
	for i := range ids {
		if err := statement.QueryRow().Scan(&ids[i]); err != nil {
			return nil, nil, err
		}
	}
	if report.Bare() {
		return nil, ids, statement.Close()
	}
	var names int
	err = errors.Join(db.QueryRow("SELECT count(*) FROM pg_prepared_statements").Scan(&names), statement.Close())
	return names, ids, err
}

// snippet: begin
// orderWithLines draws all the IDs in one round trip and inserts the rows that use them, in one transaction.
func orderWithLines(ctx context.Context, db *sql.DB, lines []string) (ids []int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, fmt.Sprintf("SELECT next_snowflake() FROM generate_series(1, %d)", len(lines)))
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	const insert = "INSERT INTO item (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])"
	if _, err := tx.ExecContext(ctx, insert, pq.Array(ids), pq.Array(lines)); err != nil {
		return nil, err
	}
	return ids, tx.Commit()
}

// snippet: end

func transaction(db *sql.DB) (any, []int64, error) {
	ids, err := orderWithLines(ctx, db, []string{"one", "two"})
	if err != nil {
		return nil, nil, err
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, nil, err
	}
	first, err := draw(tx)
	if err != nil {
		return nil, nil, err
	}
	done, err := tx.Exec("INSERT INTO item (id, name) VALUES ($1, 'gone')", first)
	if err != nil {
		return nil, nil, err
	}
	inserted, _ := done.RowsAffected()
	var seen, left, kept int
	const count = "SELECT count(*) FROM item WHERE id = $1"
	err = errors.Join(tx.QueryRow(count, first).Scan(&seen), tx.Rollback(), db.QueryRow(count, first).Scan(&left),
		db.QueryRow("SELECT count(*) FROM item WHERE id = ANY ($1)", pq.Array(ids)).Scan(&kept))
	if err != nil {
		return nil, nil, err
	}
	if tx, err = db.Begin(); err != nil {
		return nil, nil, err
	}
	_, zero := tx.Exec("SELECT 1/0")
	_, failed := draw(tx)
	committed := tx.Commit()
	last, err := draw(db)
	return []any{inserted, seen, left, kept, refused(zero), refused(failed), refused(committed)},
		append(ids, first, last), err
}

func commit(db *sql.DB) (any, []int64, error) {
	var ids [3]int64
	var refusal error
	for i, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback, (*sql.Tx).Rollback} {
		tx, err := db.Begin()
		if err != nil {
			return nil, nil, err
		}
		if ids[i], err = draw(tx); err != nil {
			return nil, nil, err
		}
		if i == 2 {
			_, _ = tx.Exec("SELECT 1/0")
			_, refusal = draw(tx)
		}
		if err := end(tx); err != nil {
			return nil, nil, err
		}
	}
	last, err := draw(db)
	return refused(refusal), append(ids[:], last), err
}

func copies(db *sql.DB) (any, []int64, error) {
	if _, err := db.Exec("TRUNCATE item"); err != nil {
		return nil, nil, err
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, nil, err
	}
	in, err := tx.Prepare("COPY item (name) FROM STDIN")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"one", "two"} {
		if _, err := in.Exec(name); err != nil {
			return nil, nil, err
		}
	}
	done, err := in.Exec()
	if err != nil {
		return nil, nil, err
	}
	copied, _ := done.RowsAffected()
	if err := errors.Join(in.Close(), tx.Commit()); err != nil {
		return nil, nil, err
	}
	var ids, keys pq.Int64Array
	var names pq.StringArray
	err = db.QueryRow("SELECT array_agg(id ORDER BY id), array_agg(name ORDER BY id) FROM item").Scan(&keys, &names)
	if err != nil {
		return nil, nil, err
	}
	last, err := draw(db)
	return []any{copied, names}, append(append(ids, keys...), last), err
}

func notify(db *sql.DB) (any, []int64, error) {
	listener := pq.NewListener(os.Getenv("CLIENT_MODE"), 1, 1, nil)
	defer listener.Close()
	if err := listener.Listen("news"); err != nil {
		return nil, nil, err
	}
	if _, err := db.Exec("NOTIFY news, 'hello'"); err != nil {
		return nil, nil, err
	}
	heard := <-listener.Notify
	id, err := draw(db)
	return []string{heard.Channel, heard.Extra}, []int64{id}, err
}

func cancel(sleeper *sql.DB) (any, []int64, error) {
	other, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer other.Close()
	until, stop := context.WithCancel(ctx)
	defer stop()
	said := make(chan error, 1)
	go func() {
		_, err := sleeper.ExecContext(until, "SELECT pg_sleep(60)")
		said <- err
	}()
	for n := 0; n == 0; {
		if err := other.QueryRow(report.Asleep).Scan(&n); err != nil {
			return nil, nil, err
		}
	}
	stop()
	cancelled := refused(<-said)
	id, err := draw(sleeper)
	return cancelled, []int64{id}, err
}

func byDefault(db *sql.DB) (any, []int64, error) {
	var id int64
	err := db.QueryRow("INSERT INTO item (name) VALUES ($1) RETURNING id", "new").Scan(&id)
	return nil, []int64{id}, err
}

func fromPool() (any, []int64, error) {
	db, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(2)
	return report.FromPool(func() (int64, error) { return draw(db) })
}

func drawMany(n int) (ids []int64, err error) {
	db, err := open()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for range n {
		id, err := draw(db)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func main() {
	const noBatch = "database/sql has no batches"
	report.Run(
		"github.com/lib/pq",
		report.Deed{Name: "password", Do: login(report.PasswordRole)},
		report.Deed{Name: "scram", Do: login(report.SCRAMRole())},
		report.Deed{
			Name: "tls", Do: login(report.SCRAMRole(), "sslmode=verify-full", "sslrootcert="+os.Getenv("CLIENT_CA")),
		},
		report.Deed{Name: "unprepared", Do: with(unprepared)},
		report.Deed{Name: "prepared", Do: with(prepared)},
		report.Deed{Name: "pipeline", None: noBatch},
		report.Deed{Name: "mixed", None: noBatch},
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

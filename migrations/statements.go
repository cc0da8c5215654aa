package migrations

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// inTransaction runs do in one transaction: all or nothing.
func (d *database) inTransaction(ctx context.Context, doing string, do func() error) error {
	d.doing(doing)
	tx, err := d.conn.Begin(ctx)
	if err != nil {
		return failed(doing, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after a commit
	if err := do(); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return failed(doing, err)
	}
	return nil
}

// write runs a statement that changes one row, and fails if it changes none. A trigger that returns NULL drops a write
// without an error.
func (d *database) write(ctx context.Context, doing, statement string, values ...any) error {
	tag, err := d.conn.Exec(ctx, statement, values...)
	if err != nil {
		return failed(doing, err)
	}
	if tag.RowsAffected() != 1 {
		return dropped(d, doing)
	}
	return nil
}

// dropped is the error of a write that PostgreSQL accepted, and that changed nothing.
func dropped(d *database, doing string) error {
	return refuse("Look for triggers, rules and policies that are not pgflurry's: \\d pgflurry.namespace and "+
		"\\d pgflurry.worker in psql show them. Then run it again.",
		"%s changed nothing in database %q, although PostgreSQL reported no error", doing, d.facts.database)
}

// script runs any number of statements without parameters.
func (d *database) script(ctx context.Context, doing, text string) error {
	d.doing(doing)
	if _, err := d.conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return failed(doing, err)
	}
	return nil
}

// texts runs a query of one text column. what is its purpose, for an error.
func texts(ctx context.Context, conn *pgx.Conn, what, query string) ([]string, error) {
	return list(ctx, conn, what, query, pgx.RowTo[string])
}

// list runs a query and reads each of its rows with read. what is its purpose, for an error.
func list[T any](
	ctx context.Context, conn *pgx.Conn, what, query string, read pgx.RowToFunc[T], values ...any,
) ([]T, error) {
	rows, err := conn.Query(ctx, query, values...)
	if err != nil {
		return nil, failed(what, err)
	}
	all, err := pgx.CollectRows(rows, read)
	if err != nil {
		return nil, failed(what, err)
	}
	return all, nil
}

// nullable returns NULL for an empty text.
func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

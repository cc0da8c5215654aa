package session

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// InTransaction runs do in one transaction: all or nothing.
func (d *Database) InTransaction(ctx context.Context, doing string, do func() error) error {
	d.Doing(doing)
	tx, err := d.Conn.Begin(ctx)
	if err != nil {
		return Failed(doing, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after a commit
	if err := do(); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return Failed(doing, err)
	}
	return nil
}

// Write runs a statement that changes one row, and fails if it changes none. A trigger that returns NULL drops a write
// without an error.
func (d *Database) Write(ctx context.Context, doing, statement string, values ...any) error {
	tag, err := d.Conn.Exec(ctx, statement, values...)
	if err != nil {
		return Failed(doing, err)
	}
	if tag.RowsAffected() != 1 {
		return Dropped(d, doing)
	}
	return nil
}

// Dropped is the error of a write that PostgreSQL accepted, and that changed nothing.
func Dropped(d *Database, doing string) error {
	return Refuse("Look for triggers, rules and policies that are not pgflurry's: \\d pgflurry.namespace and "+
		"\\d pgflurry.worker in psql show them. Then run it again.",
		"%s changed nothing in database %q, although PostgreSQL reported no error", doing, d.Facts.Database)
}

// Script runs any number of statements without parameters.
func (d *Database) Script(ctx context.Context, doing, text string) error {
	d.Doing(doing)
	if _, err := d.Conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return Failed(doing, err)
	}
	return nil
}

// Texts runs a query of one text column. what is its purpose, for an error.
func Texts(ctx context.Context, conn *pgx.Conn, what, query string) ([]string, error) {
	return List(ctx, conn, what, query, pgx.RowTo[string])
}

// List runs a query and reads each of its rows with read. what is its purpose, for an error.
func List[T any](
	ctx context.Context, conn *pgx.Conn, what, query string, read pgx.RowToFunc[T], values ...any,
) ([]T, error) {
	rows, err := conn.Query(ctx, query, values...)
	if err != nil {
		return nil, Failed(what, err)
	}
	all, err := pgx.CollectRows(rows, read)
	if err != nil {
		return nil, Failed(what, err)
	}
	return all, nil
}

// Nullable returns NULL for an empty text.
func Nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

package migrations

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/session"
)

// readApplied returns when each migration was applied.
func readApplied(ctx context.Context, conn *pgx.Conn) (map[int]time.Time, error) {
	applied := make(map[int]time.Time)
	rows, err := conn.Query(ctx, sql.Applied)
	if err != nil {
		return nil, session.AppliedUnread(conn, err)
	}
	var version int
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&version, &at}, func() error {
		applied[version] = at
		return nil
	})
	if err != nil {
		return nil, session.AppliedUnread(conn, err)
	}
	return applied, nil
}

// applyMissing runs the missing migrations, each in one transaction with its row in the record. After a failure
// the next run continues with the one that failed.
func applyMissing(ctx context.Context, d *session.Database, list []migration) error {
	applied, err := readApplied(ctx, d.Conn)
	if err != nil {
		return err
	}
	for _, m := range list {
		if _, done := applied[m.version]; done {
			continue
		}
		doing := "applying " + m.name
		err := d.InTransaction(ctx, doing, func() error {
			if err := d.Script(ctx, doing, m.up); err != nil {
				return held(err)
			}
			return recordApplied(ctx, d, m)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordApplied writes the row of an applied migration.
func recordApplied(ctx context.Context, d *session.Database, m migration) error {
	return d.Write(ctx, "writing down that "+m.name+" is applied", sql.Record, m.version)
}

// held adds a hint if another transaction held a table that a migration changes.
func held(err error) error {
	if session.NotAvailable(err) {
		return fault.WithHint(err,
			"Another transaction holds a table of schema pgflurry, as a dump does until its end. "+
				"Run the same again when that has ended; pg_locks shows who it is.")
	}
	return err
}

// recordRestored records which migrations a schema has that came from a dump without data (pg_dump --schema-only,
// structure.sql). Such a schema has its tables, but its record of the migrations is empty. The later steps make the
// rows, as in a new database.
func recordRestored(ctx context.Context, d *session.Database, list []migration) error {
	var restored bool
	if err := d.Conn.QueryRow(ctx, sql.WithoutRows).Scan(&restored); err != nil {
		return session.Failed("looking for a schema without its rows", err)
	}
	if !restored {
		return nil
	}
	if d.Facts.Revision == 0 {
		return session.Refuse("Restore the dump with the data of schema pgflurry.",
			"schema pgflurry of database %q has tables but no record of its migrations, and does not say of which "+
				"revision it is", d.Facts.Database)
	}
	for _, m := range list {
		if m.version > d.Facts.Revision {
			break
		}
		if err := recordApplied(ctx, d, m); err != nil {
			return err
		}
	}
	return nil
}

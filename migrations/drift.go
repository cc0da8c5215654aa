package migrations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

// errCompared makes drift roll its transaction back.
var errCompared = errors.New("compared")

// drift lists the functions that differ from those of this version, and the names that are not pgflurry's.
func drift(ctx context.Context, d *session.Database) (differ []Function, kept []Kept, err error) {
	if err := d.Lock(ctx); err != nil {
		return nil, nil, err
	}
	err = d.InTransaction(ctx, "comparing the functions", func() error {
		found, err := digests(ctx, d.Conn)
		if err != nil {
			return err
		}
		if differ, err = foreignFunctions(ctx, d); err != nil {
			return err
		}
		if len(differ) > 0 {
			return errCompared
		}
		for _, file := range append(sqlfuncs.Files(revision(all()), ""), sqlfuncs.Install()) {
			if err := d.Script(ctx, "comparing "+file.Name, file.SQL); err != nil {
				return err
			}
		}
		installed, err := digests(ctx, d.Conn)
		if err != nil {
			return err
		}
		if kept, err = readKept(ctx, d.Conn); err != nil {
			return err
		}
		differ = differences(found, installed)
		return errCompared
	})
	if !errors.Is(err, errCompared) {
		return nil, nil, fmt.Errorf("functions: %w", err)
	}
	return differ, kept, nil
}

// foreignFunctions lists the functions that keep Up from running.
func foreignFunctions(ctx context.Context, d *session.Database) ([]Function, error) {
	if err := installNames(ctx, d); err != nil {
		return nil, err
	}
	return session.List(ctx, d.Conn, "reading the functions in public",
		sql.Foreign, func(row pgx.CollectableRow) (f Function, err error) {
			f.State, err = "foreign", row.Scan(&f.Name)
			return f, err
		})
}

// installNames installs the functions that distinguish pgflurry's functions from others.
func installNames(ctx context.Context, d *session.Database) error {
	for _, file := range sqlfuncs.Names() {
		if err := d.Script(ctx, "telling pgflurry's functions from others", file.SQL); err != nil {
			return err
		}
	}
	return nil
}

// digests maps each function to a digest of its definition and comment.
func digests(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	digests := make(map[string]string)
	rows, err := conn.Query(ctx, sql.Functions)
	if err != nil {
		return nil, session.Failed("reading the functions", err)
	}
	var name, digest string
	_, err = pgx.ForEachRow(rows, []any{&name, &digest}, func() error {
		digests[name] = digest
		return nil
	})
	if err != nil {
		return nil, session.Failed("reading the functions", err)
	}
	return digests, nil
}

func differences(found, installed map[string]string) []Function {
	var list []Function
	for _, name := range slices.Sorted(maps.Keys(installed)) {
		switch digest, ok := found[name]; {
		case !ok:
			list = append(list, Function{Name: name, State: "missing"})
		case digest != installed[name]:
			list = append(list, Function{Name: name, State: "changed"})
		}
	}
	return list
}

// readKept lists the names in public that are not pgflurry's.
func readKept(ctx context.Context, conn *pgx.Conn) ([]Kept, error) {
	return session.List(ctx, conn, "reading the names in public", sql.Kept, pgx.RowToStructByPos[Kept])
}

package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/lease/acknowledge"
	"pgflurry/internal/namespace"
	"pgflurry/proxy/scram"
)

// What operators change in the table.

// End is the last instant at which a client may log in. The zero value is never.
type End struct {
	At time.Time     // that instant
	In time.Duration // if At is zero: so long from now, by the database's clock
	// Now means this instant, by the database's clock.
	Now bool
}

// arguments returns At and In as the statements take them.
func (e End) arguments() (at *time.Time, in *float64) {
	switch {
	case !e.At.IsZero():
		return &e.At, nil
	case e.In != 0 || e.Now:
		seconds := e.In.Seconds()
		return nil, &seconds
	}
	return nil, nil
}

// New is a client to add, or the changes of one.
type New struct {
	Name     string
	Verifier scram.Verifier // zero: it logs in only with a certificate
	End      *End           // nil: never; for an existing client: unchanged
	Limit    *int           // sessions at once on one proxy; negative: any number; nil: any number, or unchanged
}

// Put is the result of Add.
type Put struct {
	Added bool // false: it existed, and was changed
	Until time.Time
	Limit int // NoLimit: any number
}

// ExistsError means that a client of that name exists. Nothing was changed.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string { return fmt.Sprintf("there is a client %q already", e.Name) }

// UnknownError means that no client has that name. Nothing was changed.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no client %q", e.Name) }

// Kind says that an argument is wrong.
func (e *UnknownError) Kind() fault.Kind { return fault.Usage }

// Hint says how to list the names.
func (e *UnknownError) Hint() string { return `"pgflurry clients list" shows them.` }

// Add adds a client. If the client exists, Add returns an *ExistsError, or changes it if replace is true.
func Add(ctx context.Context, conn *pgx.Conn, n New, replace bool) (Put, error) {
	if err := CheckName(n.Name); err != nil {
		return Put{}, fault.WithKind(fault.Usage, err)
	}
	var verifier *string
	if !n.Verifier.IsZero() {
		text := n.Verifier.Text()
		verifier = &text
	}
	var end End
	if n.End != nil {
		end = *n.End
	}
	var limit *int
	if n.Limit != nil && *n.Limit >= 0 {
		limit = n.Limit
	}
	at, in := end.arguments()
	p := Put{Limit: NoLimit}
	doing := fmt.Sprintf("adding client %q", n.Name)
	err := writing(ctx, conn, doing, func(tx pgx.Tx) error {
		var until *time.Time
		var allowed *int
		row := tx.QueryRow(ctx, sql.Put, n.Name, verifier, n.End != nil, at, in, n.Limit != nil, limit, replace)
		if err := row.Scan(&p.Added, &until, &allowed); err != nil {
			return err
		}
		if until != nil {
			p.Until = *until
		}
		if allowed != nil {
			p.Limit = *allowed
		}
		return nil
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Put{}, &ExistsError{n.Name}
	}
	return p, err
}

// Expire sets the end of a client's access. until is that instant; zero: for ever. past reports whether it is over.
func Expire(ctx context.Context, conn *pgx.Conn, name string, end End) (until time.Time, past bool, err error) {
	at, in := end.arguments()
	err = writing(ctx, conn, fmt.Sprintf("setting the end of client %q", name), func(tx pgx.Tx) error {
		var set *time.Time
		var over *bool
		if err := tx.QueryRow(ctx, sql.Expire, name, at, in).Scan(&set, &over); err != nil || set == nil {
			return err
		}
		until, past = *set, *over
		return nil
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, false, &UnknownError{name}
	}
	return until, past, err
}

// Remove removes a client.
func Remove(ctx context.Context, conn *pgx.Conn, name string) error {
	removed := false
	err := writing(ctx, conn, fmt.Sprintf("removing client %q", name), func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql.Remove, name)
		removed = tag.RowsAffected() > 0
		return err
	})
	if err == nil && !removed {
		return &UnknownError{name}
	}
	return err
}

// writing runs a write in a transaction of its own, with the settings of package acknowledge.
func writing(ctx context.Context, conn *pgx.Conn, doing string, write func(pgx.Tx) error) error {
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{
		IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite,
	}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, acknowledge.SettingsSQL, "5000", "30000"); err != nil {
			return err
		}
		return write(tx)
	})
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return namespace.AsOwner(explain(doing, conn, err))
}

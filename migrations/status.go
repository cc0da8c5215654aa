package migrations

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
	"pgflurry/internal/session"
)

// Status returns the state of the database at url, and changes nothing. To compare the functions it installs them in a
// transaction that it rolls back. For that it needs the rights of Up.
func Status(ctx context.Context, url string) (State, error) {
	d, err := session.Open(ctx, url)
	if err != nil {
		return State{}, err
	}
	defer d.Close()
	row, err := namespace.Read(ctx, d.Conn)
	missing := errors.As(err, new(*namespace.NotMigratedError)) || errors.As(err, new(*namespace.OlderError))
	if err != nil && !missing {
		return State{}, err
	}
	state, pending, err := progress(ctx, d.Conn, d.Facts)
	if err != nil || missing {
		return state, err
	}
	if err := describe(ctx, d.Conn, row, &state); err != nil {
		return State{}, err
	}
	if err := d.Facts.NotNewer(ctx, d.Conn, namespace.Revision); errors.As(err, new(*namespace.NewerError)) {
		state.Newer, state.Unchecked = err, "the schema is newer than this program"
		return state, nil
	} else if err != nil {
		return State{}, err
	}
	if err := d.Facts.MayMigrate(); err != nil {
		state.Unchecked = err.Error()
		return state, nil
	}
	if pending {
		state.Unchecked = "migrations are pending"
		return state, nil
	}
	state.Functions, state.Kept, err = drift(ctx, d)
	var full *pgconn.PgError
	if errors.As(err, &full) && strings.HasPrefix(full.Code, "53") { // no room on the disk, or no memory
		state.Unchecked, err = full.Message, nil
	}
	return state, err
}

// stateAfterUp is the state that an Up of this session leaves. The functions are those that it has installed. To
// compare them, it would have to install them once more, which takes as long again. That the role may migrate, and that
// the schema is not newer, is known.
func stateAfterUp(ctx context.Context, d *session.Database) (State, error) {
	now, err := session.ReadFacts(ctx, d.Conn) // Up may have chosen other functions for public
	if err != nil {
		return State{}, err
	}
	state, _, err := progress(ctx, d.Conn, now)
	if err != nil {
		return State{}, err
	}
	row, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return State{}, err
	}
	if err := describe(ctx, d.Conn, row, &state); err != nil {
		return State{}, err
	}
	state.Kept, err = readKept(ctx, d.Conn)
	return state, err
}

// progress is the part of the state that needs no namespace. pending: not every migration is applied.
func progress(ctx context.Context, conn *pgx.Conn, f session.Facts) (state State, pending bool, err error) {
	state = State{Database: f.Database, Public: f.Public}
	var applied map[int]time.Time
	if f.HasSchema {
		if applied, err = readApplied(ctx, conn); err != nil {
			return State{}, false, err
		}
	}
	for _, m := range all() {
		at, done := applied[m.version]
		state.Migrations = append(state.Migrations, Applied{Version: m.version, Name: m.name, At: at})
		pending = pending || !done
	}
	return state, pending, nil
}

// describe fills in the state of the namespace and of the tables beside it.
func describe(ctx context.Context, conn *pgx.Conn, row namespace.Namespace, state *State) error {
	state.Namespace = &row
	state.Copied, _ = row.Copied()
	state.Closed = row.Closed
	now, err := session.Clock(ctx, conn)
	if err != nil {
		return err
	}
	if row.NewServer != "" {
		if state.Elsewhere, err = namespace.Elsewhere(ctx, conn, ""); err != nil {
			return session.Failed("looking for proxies of the original", err)
		}
	}
	if state.WeakGuards, err = namespace.WeakGuards(ctx, conn); err != nil {
		return session.Failed("looking for weak guards", err)
	}
	state.Left = row.Layout.End().Sub(now)
	if row.Home == "" {
		gate, err := decide.ReadGate(ctx, conn, row)
		if err != nil {
			return err
		}
		state.GateOpens, state.GateBy = gate.Left, gate.By
		if err := conn.QueryRow(ctx, sql.Proxies).Scan(&state.Proxies); err != nil {
			return session.Failed("counting the proxies", err)
		}
		if state.Restart, state.Settles, err = decide.ReadRestart(ctx, conn, now); err != nil {
			return err
		}
	}
	if state.Joined, err = readJoined(ctx, conn); err != nil {
		return err
	}
	if state.JoinsClosed, err = joinsClosed(ctx, conn); err != nil {
		return err
	}
	if state.Drawers, err = session.Texts(ctx, conn, "looking for roles that may set the sequences",
		sql.Drawers); err != nil {
		return err
	}
	if state.LockTables, err = session.Texts(ctx, conn, "looking for the locks of the function",
		sql.LockTables); err != nil {
		return err
	}
	state.Unreadable, err = readUnreadable(ctx, conn)
	return err
}

// readJoined lists the databases that have joined the namespace whose home this is.
func readJoined(ctx context.Context, conn *pgx.Conn) ([]Joined, error) {
	return session.List(ctx, conn, "looking for databases that have joined", sql.Joined, pgx.RowToStructByPos[Joined])
}

// joinsClosed reports whether no other database can join this home. If the function is missing by which the home knows,
// it returns false.
func joinsClosed(ctx context.Context, conn *pgx.Conn) (closed bool, err error) {
	err = conn.QueryRow(ctx, sql.JoinsClosed).Scan(&closed)
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "42883" { // undefined function
		return false, nil
	}
	if err != nil {
		return false, session.Failed("looking whether other databases can join", err)
	}
	return closed, nil
}

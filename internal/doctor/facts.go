package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// A Shown is a fact that a server may keep to itself.
type Shown struct {
	Value string `json:"value"`         // empty: not shown
	Why   string `json:"why,omitempty"` // why it is not shown
}

// Facts are what one look at a server has found.
type Facts struct {
	Number     int               `json:"number"` // 150018
	Version    string            `json:"version"`
	Standby    bool              `json:"standby"`
	Started    time.Time         `json:"started"` // the postmaster
	Clock      time.Time         `json:"clock"`   // of the server
	Here       time.Time         `json:"here"`    // of this machine, in the middle of the question
	RoundTrip  time.Duration     `json:"round_trip"`
	Role       string            `json:"role"`
	Superuser  bool              `json:"superuser"`
	Database   string            `json:"database"`
	Address    string            `json:"address"` // of the server, as it sees itself; empty: a Unix socket
	TLS        bool              `json:"tls"`
	Local      bool              `json:"local"`  // by a Unix socket or the loopback
	Pooled     bool              `json:"pooled"` // a pooler stands between
	Signs      []string          `json:"signs"`  // of a provider
	Settings   map[string]string `json:"settings"`
	Timeline   Shown             `json:"timeline"`
	System     Shown             `json:"system_identifier"`
	Statistics Shown             `json:"statistics"` // since when
	Standbys   int               `json:"standbys"`
	Sessions   int               `json:"sessions"` // of clients
	Lane       Shown             `json:"lane"`     // persistence of the function's sequence

	MayMigrate string   `json:"may_migrate"` // why not; empty: it may
	Migrated   bool     `json:"migrated"`    // schema pgflurry is there
	Lacking    []string `json:"lacking"`     // what the role lacks for a lease
	Copied     string   `json:"copied"`      // why the database is a copy
	Closed     bool     `json:"closed"`
	Namespace  string   `json:"namespace"` // why the row could not be read; empty: it could, or is not there
	Weak       string   `json:"weak"`      // guards that do not hold
}

// Look asks the server. It changes nothing. An error means that nothing could be asked.
func Look(ctx context.Context, conn *pgx.Conn) (Facts, error) {
	var f Facts
	var backend uint32
	begin := time.Now()
	err := conn.QueryRow(ctx, sql.Server).Scan(&f.Number, &f.Version, &f.Standby, &f.Started, &f.Clock, &f.Role,
		&f.Database, &f.Address, &backend, &f.Superuser, &f.TLS)
	if err != nil {
		return Facts{}, fmt.Errorf("asking the server what it is: %w", err)
	}
	f.RoundTrip = time.Since(begin)
	f.Here = begin.Add(f.RoundTrip / 2)
	f.Pooled = backend != conn.PgConn().PID()
	f.Local = local(conn)
	if f.Settings, err = settings(ctx, conn); err != nil {
		return Facts{}, err
	}
	if f.Signs, err = texts(ctx, conn, sql.Signs); err != nil {
		return Facts{}, fmt.Errorf("asking whose server it is: %w", err)
	}
	f.Timeline = shown(ctx, conn, sql.Timeline)
	f.System = shown(ctx, conn, sql.SystemIdentifier)
	f.Statistics = shown(ctx, conn, sql.Statistics)
	f.Lane = shown(ctx, conn, sql.Lane)
	_ = conn.QueryRow(ctx, sql.Standbys).Scan(&f.Standbys) // 0: none, or none that shows
	_ = conn.QueryRow(ctx, sql.Connections).Scan(&f.Sessions)
	if err := session.Permitted(ctx, conn); err != nil {
		f.MayMigrate = err.Error()
	}
	return f, f.lookAtNamespace(ctx, conn)
}

// lookAtNamespace reads what belongs to pgflurry, if it is there.
func (f *Facts) lookAtNamespace(ctx context.Context, conn *pgx.Conn) (err error) {
	missing, err := texts(ctx, conn, sql.Lacking)
	if err != nil {
		return fmt.Errorf("asking what the role may do: %w", err)
	}
	f.Migrated = len(missing) != 1 || missing[0] != ""
	if !f.Migrated {
		return nil
	}
	f.Lacking = missing
	row, err := namespace.Read(ctx, conn)
	if none := new(namespace.NotMigratedError); errors.As(err, &none) {
		f.Namespace = none.Error()
		return nil
	}
	if err != nil {
		f.Namespace = err.Error()
		return nil
	}
	f.Copied, _ = row.Copied()
	f.Closed = row.Closed
	f.Weak, _ = namespace.WeakGuards(ctx, conn) // a role that may not ask learns it from "migrate status"
	return nil
}

// local reports whether nobody can listen between this machine and the server.
func local(conn *pgx.Conn) bool {
	network, _ := pgconn.NetworkAddress(conn.Config().Host, conn.Config().Port)
	if network == "unix" {
		return true
	}
	return loopback(conn.PgConn().Conn().RemoteAddr())
}

func settings(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	rows, err := conn.Query(ctx, sql.Settings)
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	all := make(map[string]string)
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		all[name] = value
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	return all, nil
}

// texts are the rows of one column. NULL is an empty text.
func texts(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var text *string
		if err := row.Scan(&text); err != nil || text == nil {
			return "", err
		}
		return *text, nil
	})
}

// shown asks for one value as text.
func shown(ctx context.Context, conn *pgx.Conn, query string) Shown {
	var value *string
	var at *time.Time
	target := any(&value)
	if query == sql.Statistics {
		target = &at
	}
	switch err := conn.QueryRow(ctx, query).Scan(target); {
	case errors.Is(err, pgx.ErrNoRows):
		return Shown{Why: "it is not there"}
	case err != nil:
		return Shown{Why: reason(err)}
	case value != nil:
		return Shown{Value: *value}
	case at != nil:
		return Shown{Value: at.UTC().Format(time.RFC3339Nano)}
	}
	return Shown{Why: "the server shows nothing"}
}

// reason is the sentence of PostgreSQL.
func reason(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return fmt.Sprintf("%s (%s)", said.Message, said.Code)
	}
	return err.Error()
}

// code is the SQLSTATE of an error; empty: it has none.
func code(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

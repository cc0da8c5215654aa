package decide

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// A Gate keeps workers of a home back.
type Gate struct {
	Database string
	Left     time.Duration // for which no worker is granted; 0: the gate is open
	Opens    time.Time     // by the server's clock
	By       string        // who closed it last; "": not known
}

// LookAtGate reads the gate of a home.
func LookAtGate(ctx context.Context, url string) (Gate, error) {
	d, row, err := openHomeOfGate(ctx, url)
	if err != nil {
		return Gate{}, err
	}
	defer d.Close()
	return ReadGate(ctx, d.Conn, row)
}

// OpenGate lets proxies get workers at once, although the rows may lack grants that are in use. It returns the gate as
// it was.
func OpenGate(ctx context.Context, url string) (Gate, error) {
	d, row, err := openHomeOfGate(ctx, url)
	if err != nil {
		return Gate{}, err
	}
	defer d.Close()
	before, err := ReadGate(ctx, d.Conn, row)
	if err != nil || before.Left == 0 {
		return before, err
	}
	return before, d.Certain(func() error { return d.Write(ctx, "opening the gate", sql.OpenGate) })
}

func openHomeOfGate(ctx context.Context, url string) (*session.Database, namespace.Namespace, error) {
	d, row, err := openClosing(ctx, url)
	if err != nil {
		return nil, row, err
	}
	if why, copied := row.Copied(); copied {
		err = fault.WithKind(fault.NotInPlace, session.Refuse(`"pgflurry migrate up" says what it can become.`, "%s",
			why))
	} else if row.Home != "" {
		err = session.Contradicts("Give the URL of its home.",
			"database %q has no gate: the workers of its namespace are in %s", row.Database, row.Home)
	}
	if err != nil {
		d.Close()
		return nil, row, err
	}
	return d, row, nil
}

func ReadGate(ctx context.Context, conn *pgx.Conn, row namespace.Namespace) (Gate, error) {
	g := Gate{Database: row.Database}
	var left int64
	if err := conn.QueryRow(ctx, sql.Gate).Scan(&left, &g.Opens, &g.By); err != nil {
		return Gate{}, session.Failed("reading the gate", err)
	}
	g.Left = time.Duration(left) * time.Millisecond
	return g, nil
}

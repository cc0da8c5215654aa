package migrations

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
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
	defer d.close()
	return readGate(ctx, d.conn, row)
}

// OpenGate lets proxies get workers at once, although the rows may lack grants that are in use. It returns the gate as
// it was.
func OpenGate(ctx context.Context, url string) (Gate, error) {
	d, row, err := openHomeOfGate(ctx, url)
	if err != nil {
		return Gate{}, err
	}
	defer d.close()
	before, err := readGate(ctx, d.conn, row)
	if err != nil || before.Left == 0 {
		return before, err
	}
	return before, d.certain(func() error { return d.write(ctx, "opening the gate", sql.OpenGate) })
}

func openHomeOfGate(ctx context.Context, url string) (*database, namespace.Namespace, error) {
	d, row, err := openClosing(ctx, url)
	if err != nil {
		return nil, row, err
	}
	if why, copied := row.Copied(); copied {
		err = fault.WithKind(fault.NotInPlace, refuse(`"pgflurry migrate up" says what it can become.`, "%s", why))
	} else if row.Home != "" {
		err = contradicts("Give the URL of its home.",
			"database %q has no gate: the workers of its namespace are in %s", row.Database, row.Home)
	}
	if err != nil {
		d.close()
		return nil, row, err
	}
	return d, row, nil
}

func readGate(ctx context.Context, conn *pgx.Conn, row namespace.Namespace) (Gate, error) {
	g := Gate{Database: row.Database}
	var left int64
	if err := conn.QueryRow(ctx, sql.Gate).Scan(&left, &g.Opens, &g.By); err != nil {
		return Gate{}, failed("reading the gate", err)
	}
	g.Left = time.Duration(left) * time.Millisecond
	return g, nil
}

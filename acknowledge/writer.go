package acknowledge

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	//go:embed begin.sql
	beginSQL string
	//go:embed commit.sql
	commitSQL string

	// SettingsSQL makes a transaction independent of the settings of role and database. $1 and $2 are lock_timeout and
	// statement_timeout in milliseconds, as text; "0" is none.
	//
	//go:embed settings.sql
	SettingsSQL string
)

// ErrBlocked: the outcome is unknown because another session holds a lock on the row. Other rows may be free.
var ErrBlocked = errors.New("the row is locked by another session")

// lockNotAvailable is the SQLSTATE of an expired lock_timeout.
const lockNotAvailable = "55P03"

// Writer runs one write at a time. It works behind a pooler in transaction mode: it keeps one connection, uses unnamed
// statements only, and leaves nothing in the session. Each write is one round trip on an open connection. One goroutine
// uses a Writer.
type Writer struct {
	config *pgconn.Config
	wire   *wire // nil: none is open
}

// NewWriter makes a Writer for the database that config names; nothing is opened yet. If config names several hosts,
// the Writer skips standbys. It copies config and uses its DialFunc.
func NewWriter(config *pgconn.Config) *Writer {
	own := config.Copy()
	PassOverStandbys(own)
	return &Writer{config: own}
}

// Write runs one statement in a transaction of its own. It returns the row only if the write was cleanly acknowledged.
// Every error means that the outcome is unknown, and the next Write opens another connection. An error that wraps
// ErrBlocked names the cause. Write waits for a lock for at most half of the time that ctx has left.
func (w *Writer) Write(ctx context.Context, sql string, params ...Param) (*Row, error) {
	if w.wire == nil {
		wire, err := connect(ctx, w.config)
		if err != nil {
			return nil, err
		}
		w.wire = wire
	}
	lock, whole := timeouts(ctx)
	x, err := w.wire.run(ctx,
		statement{sql: beginSQL},
		statement{sql: SettingsSQL, params: []Param{lock, whole}},
		statement{sql: sql, params: params},
		statement{sql: commitSQL})
	var row []value
	if err == nil {
		row, err = acknowledge(x)
	}
	if err != nil {
		w.Close()
		if blocked(err) {
			err = fmt.Errorf("%w: %w", ErrBlocked, err)
		}
		return nil, fmt.Errorf("outcome unknown: %w", err)
	}
	return &Row{values: row}, nil
}

// Close ends the connection, if there is one. A later Write opens another.
func (w *Writer) Close() {
	if w.wire != nil {
		w.wire.close()
		w.wire = nil
	}
}

func blocked(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == lockNotAvailable
}

// timeouts returns the limits in milliseconds: half of the time left for a lock, all of it for the statement. 0 is no
// limit.
func timeouts(ctx context.Context) (lock, whole Param) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return Text("0"), Text("0")
	}
	left := max(2, time.Until(deadline).Milliseconds())
	return Number(left / 2), Number(left)
}

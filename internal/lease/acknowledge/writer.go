package acknowledge

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
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

// Writer runs one write at a time, and waits for late answers (WriteOrLate). It works behind a pooler in transaction
// mode: it keeps one connection, uses unnamed statements only, and leaves nothing in the session. Each write is one
// round trip on an open connection. Package connect replaces that connection between two writes, once it is old. One
// goroutine uses a Writer.
type Writer struct {
	kept *connect.Kept[*wire]
	late []*asked      // writes without an answer, the oldest first
	ends chan struct{} // has a value once a write is over
}

// NewWriter makes a Writer for the database that config names; nothing is opened yet. If config names several hosts,
// the Writer skips standbys. It copies config and uses its DialFunc.
func NewWriter(config *pgconn.Config, rules connect.Rules) *Writer {
	own := config.Copy()
	connect.PassOverStandbys(own)
	login := func(ctx context.Context) (*wire, error) { return open(ctx, own) }
	rules.To = func() string { return connect.Target(own) }
	return &Writer{kept: connect.Keep(login, (*wire).close, rules), ends: make(chan struct{}, 1)}
}

// Write runs one statement in a transaction of its own. It returns the row only if the write was cleanly acknowledged.
// Every error means that the outcome is unknown, and the next Write opens another connection. An error that wraps
// ErrBlocked names the cause. Write waits for a lock for at most half of the time that ctx has left. It ends writes
// whose answers are late.
func (w *Writer) Write(ctx context.Context, sql string, params ...Param) (*Row, error) {
	w.forgetAll()
	wire, err := w.kept.Get(ctx)
	if err != nil {
		return nil, err
	}
	lock, whole := timeouts(ctx)
	row, err := wire.write(ctx, lock, whole, sql, params)
	if err != nil {
		w.kept.Broken(err)
		return nil, unknown(err)
	}
	return &Row{values: row}, nil
}

// Close ends all connections. A later Write opens another.
func (w *Writer) Close() {
	w.forgetAll()
	w.kept.Close()
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

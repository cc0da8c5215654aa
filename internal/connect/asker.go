package connect

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// farewell limits the time to close a connection.
const farewell = time.Second

// A Question asks over an open connection.
type Question func(context.Context, *pgx.Conn) error

// An Asker is a session of the process's own to one database, for one question after the other. It opens for the first
// one and stays until it fails or is old. One goroutine uses it.
type Asker struct {
	kept    *Kept[*pgx.Conn]
	timeout time.Duration // limits a login, and a question
	asked   *pgx.Conn     // the one that has answered before; nil: none
}

// NewAsker makes an Asker. config is asked before each login. The name of the rules is the application_name.
func NewAsker(config func() *pgx.ConnConfig, timeout time.Duration, rules Rules) *Asker {
	login := func(ctx context.Context) (*pgx.Conn, error) { return connect(ctx, config(), rules.Name) }
	rules.To = func() string { return Target(&config().Config) }
	return &Asker{kept: Keep(login, sayFarewell, rules), timeout: timeout}
}

// Ask asks a question. A connection may have ended since the last question: by an idle timeout, a restart or a
// balancer. That is normal, so the question is repeated on a new one. An error is a LoginError, a BrokenError, or what
// the question has returned.
func (a *Asker) Ask(ctx context.Context, question Question) error {
	for {
		conn, err := a.get(ctx)
		if err != nil {
			return &LoginError{err}
		}
		before := a.asked
		a.asked = conn
		err = a.put(ctx, conn, question)
		if err == nil || a.asked != nil || before != conn || ctx.Err() != nil {
			return err
		}
	}
}

func (a *Asker) get(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.kept.Get(ctx)
}

// put asks over the open connection, and drops it if it has ended.
func (a *Asker) put(ctx context.Context, conn *pgx.Conn, question Question) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := question(ctx, conn)
	if !conn.IsClosed() {
		return err
	}
	a.kept.Broken(err)
	a.asked = nil
	if err == nil {
		return nil // it ended after the answer
	}
	return &BrokenError{err}
}

// Close ends the session. A later question opens another.
func (a *Asker) Close() { a.kept.Close() }

// AskOnce opens a connection for one question. name is its application_name.
func AskOnce(
	ctx context.Context, config *pgx.ConnConfig, name string, timeout time.Duration, question Question,
) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := connect(ctx, config, name)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return question(ctx, conn)
}

// connect opens a connection. If one host hangs, there is time left for the others. A configuration with an
// application_name keeps it.
func connect(ctx context.Context, config *pgx.ConnConfig, name string) (*pgx.Conn, error) {
	own := config.Copy() // the original's password may change meanwhile
	ShareTime(ctx, &own.Config)
	if own.RuntimeParams["application_name"] == "" && name != "" {
		own.RuntimeParams["application_name"] = name
	}
	return pgx.ConnectConfig(ctx, own)
}

func sayFarewell(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = conn.Close(ctx)
}

// A LoginError says that no session began.
type LoginError struct{ Cause error }

func (e *LoginError) Error() string { return Explain(e.Cause).Error() }

// Unwrap returns the cause.
func (e *LoginError) Unwrap() error { return e.Cause }

// A BrokenError says that a session ended before its answer was complete. Its text has no local port, so that the same
// cause has the same text.
type BrokenError struct{ Cause error }

func (e *BrokenError) Error() string {
	cause := LastCause(e.Cause)
	if errors.Is(cause, context.DeadlineExceeded) || pgconn.Timeout(e.Cause) {
		return "no answer in time"
	}
	return "the connection ended: " + cause.Error()
}

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Cause }

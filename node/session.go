package node

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/connstring"
	"pgflurry/fresh"
	"pgflurry/proxy"
)

// lookName is the default application_name of a kept connection.
const lookName = "pgflurry serve, permission"

// farewell limits the time to close a kept connection.
const farewell = time.Second

// keptConnection is the proxy's own session to one database. It opens for the first question and stays until it fails
// or is old (package fresh). One goroutine uses it.
type keptConnection struct {
	kept    *fresh.Kept[*pgx.Conn]
	timeout time.Duration // limits a login, and a question
	asked   *pgx.Conn     // the one that has answered before; nil: none
}

// keep makes a keptConnection. config is asked before each login. The rules have its name.
func keep(config func() *pgx.ConnConfig, timeout time.Duration, rules fresh.Rules) keptConnection {
	login := func(ctx context.Context) (*pgx.Conn, error) { return connect(ctx, config()) }
	return keptConnection{kept: fresh.Keep(login, sayFarewell, rules), timeout: timeout}
}

// keepTo makes one with a configuration that stays.
func keepTo(config *pgx.ConnConfig, timeout time.Duration, rules fresh.Rules) keptConnection {
	return keep(func() *pgx.ConnConfig { return config }, timeout, rules)
}

// ask asks a question. A connection may have ended since the last question: by an idle timeout, a restart or a
// balancer. That is normal, so the question is repeated on a new one.
func (k *keptConnection) ask(ctx context.Context, question func(context.Context, *pgx.Conn) error) error {
	for {
		conn, err := k.get(ctx)
		if err != nil {
			return &loginError{err}
		}
		before := k.asked
		k.asked = conn
		err = k.put(ctx, conn, question)
		if err == nil || k.asked != nil || before != conn || ctx.Err() != nil {
			return err
		}
	}
}

func (k *keptConnection) get(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	return k.kept.Get(ctx)
}

// put asks over the open connection, and drops it if it has ended.
func (k *keptConnection) put(
	ctx context.Context, conn *pgx.Conn, question func(context.Context, *pgx.Conn) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	err := question(ctx, conn)
	if !conn.IsClosed() {
		return err
	}
	k.kept.Broken(err)
	k.asked = nil
	if err == nil {
		return nil // it ended after the answer
	}
	return &brokenError{err}
}

func (k *keptConnection) close() { k.kept.Close() }

func sayFarewell(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = conn.Close(ctx)
}

// A loginError says that no session began.
type loginError struct{ cause error }

func (e *loginError) Error() string { return connstring.Explain(e.cause).Error() }
func (e *loginError) Unwrap() error { return e.cause }

// A brokenError says that a session ended before its answer was complete. Its text has no local port, so that the same
// cause has the same text.
type brokenError struct{ cause error }

func (e *brokenError) Error() string {
	cause := connstring.LastCause(e.cause)
	if errors.Is(cause, context.DeadlineExceeded) || pgconn.Timeout(e.cause) {
		return "no answer in time"
	}
	return "the connection ended: " + cause.Error()
}

func (e *brokenError) Unwrap() error { return e.cause }

// throughUpstream is how the lease role reaches the upstream: in the same way as sessions, TLS included.
func throughUpstream(
	config *pgx.ConnConfig, upstream []proxy.Host, dial func(context.Context) (net.Conn, error),
) *pgx.ConnConfig {
	there := config.Copy()
	there.Fallbacks, there.TLSConfig, there.ValidateConnect = nil, nil, nil
	first := upstream[0] // named in messages; dial decides where to connect
	there.Host, there.Port = first.Address, 0
	if first.Network == "tcp" {
		host, port, err := net.SplitHostPort(first.Address)
		if number, bad := strconv.ParseUint(port, 10, 16); err == nil && bad == nil {
			there.Host, there.Port = host, uint16(number)
		}
	}
	if len(upstream) > 1 {
		there.Host += ",…"
	}
	there.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	there.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	return there
}

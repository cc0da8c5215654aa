package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/connstring"
	"pgflurry/hint"
)

// lookName is the application_name of a kept connection, unless the connection string has one.
const lookName = "pgflurry serve, permission"

// farewell bounds the end of a kept connection.
const farewell = time.Second

// keptConnection is the proxy's own session to one database, through the upstream. It is opened for the first question and used until
// it fails. One goroutine uses it.
type keptConnection struct {
	config  *pgx.ConnConfig
	timeout time.Duration // bounds a login, and a question
	conn    *pgx.Conn     // nil: none is open
}

// ask puts a question. A connection from before may have ended since, for an idle timer, a restart or a balancer. That is no news, so
// the question is put again on a new one.
func (k *keptConnection) ask(ctx context.Context, question func(context.Context, *pgx.Conn) error) error {
	if k.conn != nil {
		if err := k.put(ctx, question); err == nil || k.conn != nil || ctx.Err() != nil {
			return err
		}
	}
	login, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(login, k.config)
	if err != nil {
		return &loginError{err}
	}
	k.conn = conn
	return k.put(ctx, question)
}

// put asks the open connection, and forgets it if it has ended.
func (k *keptConnection) put(ctx context.Context, question func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	err := question(ctx, k.conn)
	if !k.conn.IsClosed() {
		return err
	}
	k.conn = nil
	if err == nil {
		return nil // it ended behind the answer
	}
	return &brokenError{err}
}

func (k *keptConnection) close() {
	if k.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = k.conn.Close(ctx)
	k.conn = nil
}

// A loginError says that no session began.
type loginError struct{ cause error }

func (e *loginError) Error() string { return connstring.Explain(e.cause).Error() }
func (e *loginError) Unwrap() error { return e.cause }

// A brokenError says that a session has ended before its answer was complete. Its text names no port of this machine, so that the
// same cause has the same text.
type brokenError struct{ cause error }

func (e *brokenError) Error() string {
	cause := connstring.LastCause(e.cause)
	if errors.Is(cause, context.DeadlineExceeded) || pgconn.Timeout(e.cause) {
		return "no answer in time"
	}
	return "the connection ended: " + cause.Error()
}

func (e *brokenError) Unwrap() error { return e.cause }

// meaning is what a question without an answer says about a database.
type meaning int

const (
	refused meaning = iota // PostgreSQL says no
	unasked                // upstream takes logins, or is there to refuse them, but the question was not answered
	away                   // nothing is there, or not yet
)

// meaningOf sorts the errors of keptConnection.ask.
func meaningOf(err error) meaning {
	var said *pgconn.PgError
	var login *loginError
	var broken *brokenError
	switch {
	case errors.As(err, &said):
		return meaningOfCode(said.Code)
	case errors.As(err, &login):
		return away
	case errors.As(err, &broken):
		return unasked
	}
	return refused // the session goes on: its answer makes no sense
}

func meaningOfCode(code string) meaning {
	switch {
	case slices.Contains([]string{"57P01", "57P02", "57P03"}, code): // it ends, or starts
		return away
	// Too many connections and other scarcity, all errors of a pooler, cancelled, a lock, a rollback: the next look may be luckier.
	case slices.Contains([]string{"53", "08", "40"}, code[:min(2, len(code))]), slices.Contains([]string{"57014", "57P05", "55P03"}, code):
		return unasked
	}
	return refused
}

// throughUpstream is the lease role's way to the upstream: the one that sessions take, TLS included.
func throughUpstream(config *pgx.ConnConfig, network, upstream string, dial func(context.Context) (net.Conn, error)) *pgx.ConnConfig {
	there := config.Copy()
	there.Fallbacks, there.TLSConfig, there.ValidateConnect = nil, nil, nil
	there.Host, there.Port = upstream, 0
	if network == "tcp" {
		host, port, err := net.SplitHostPort(upstream)
		if number, bad := strconv.ParseUint(port, 10, 16); err == nil && bad == nil {
			there.Host, there.Port = host, uint16(number)
		}
	}
	there.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	there.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	return there
}

// lookHint says what to do about a database that cannot be looked at.
func lookHint(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "28000" && strings.Contains(said.Message, "no encryption") {
		return "Give the proxy --upstream-tls require, or verify-full with --upstream-tls-ca."
	}
	if advice := hint.Of(connstring.Explain(err)); advice != "" {
		return advice
	}
	return hint.Of(err)
}

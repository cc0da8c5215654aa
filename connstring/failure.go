package connstring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/hint"
	"pgflurry/outcome"
)

// Explain puts what pgx says about a connection that failed, which is every attempt in its own words, into one sentence
// with the last cause, and what to do. Any other error stays as it is.
func Explain(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) || errors.Is(err, context.Canceled) { // the second was cut short by us
		return err
	}
	_, address := pgconn.NetworkAddress(failed.Config.Host, failed.Config.Port)
	cause := LastCause(failed)
	text, advice := cause.Error(), ""
	var said *pgconn.PgError
	var length *pgproto3.ExceededMaxBodyLenErr
	switch {
	case errors.As(cause, &said):
		text, advice = fmt.Sprintf("%s (SQLSTATE %s)", said.Message, said.Code), said.Hint
		if said.Code == "42704" || said.Code == "08P01" { // an unknown parameter, as PostgreSQL and PgBouncer say it
			text = withoutParameters(text, failed.Config.RuntimeParams)
			if advice == "" {
				advice = "Leave out of the connection string what PostgreSQL, or the pooler before it, lacks. " +
					"It knows the keywords of libpq, such as sslmode, and its own settings."
			}
		}
		if said.Code == "28P01" { // the server asked for a password, and this was not it
			advice = "Give the password in PGPASSWORD, in ~/.pgpass or in the URL."
		}
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, os.ErrDeadlineExceeded):
		text = "no answer in time"
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF):
		text, advice = "the server closed the connection", "Is that PostgreSQL?"
	case errors.As(cause, &length): // HTTP read as a message
		text, advice = "what answers there does not speak PostgreSQL's protocol", "Is the port that of PostgreSQL?"
	case text == refusedTLS:
		advice = "The server has TLS turned off. Turn it on there. " +
			"Where nobody can listen on the way, sslmode=disable in the URL connects without."
	case errors.Is(cause, syscall.EINVAL) && len(address) > LongestSocketPath:
		text = fmt.Sprintf("the path of the socket has %d bytes, and this system allows %d",
			len(address), LongestSocketPath)
		advice = "Choose a shorter folder, or connect by TCP."
	case Refused(cause), errors.Is(cause, syscall.ENOENT):
		advice = "Is PostgreSQL running there? Expected " + Form + "."
	}
	return outcome.As(outcome.Unreachable, hint.With(fmt.Errorf("cannot connect to %s/%s as %q: %s",
		address, failed.Config.Database, failed.Config.User, text), advice))
}

// refusedTLS is what pgx says where TLS is required and the server has none. It has no type for it.
const refusedTLS = "server refused TLS connection"

// LongestSocketPath is how long the path of a Unix socket may be on this system, in bytes: the last one is the end.
const LongestSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// Refused says that a connection failed because nothing listens at its address.
func Refused(err error) bool { return errors.Is(err, connectionRefused) }

// withoutParameters leaves the names of parameters out of what a server says. A password with a space, not in quotes,
// makes its second word one.
func withoutParameters(text string, params map[string]string) string {
	for name := range params {
		text = strings.ReplaceAll(text, name, "…")
	}
	return text
}

// LastCause is the innermost error of the last attempt.
// Where TLS is preferred, the first one mostly says that there is none.
func LastCause(err error) error {
	for {
		switch err.(type) {
		case *pgconn.PgError, *net.DNSError:
			return err
		}
		var inner error
		switch wrapping := err.(type) {
		case interface{ Unwrap() []error }:
			list := wrapping.Unwrap()
			inner = list[len(list)-1]
		case interface{ Unwrap() error }:
			inner = wrapping.Unwrap()
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}

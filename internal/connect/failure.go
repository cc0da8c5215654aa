package connect

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

	"pgflurry/internal/fault"
)

// Explain rewrites pgx's error of a failed connection, which has every attempt in its own words. The new error is one
// sentence with the last cause, and a hint. Any other error stays as it is.
func Explain(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) || errors.Is(err, context.Canceled) { // we have cancelled it ourselves
		return err
	}
	_, address := pgconn.NetworkAddress(failed.Config.Host, failed.Config.Port)
	cause := LastCause(failed)
	text, advice := cause.Error(), ""
	var said *pgconn.PgError
	var unknown *net.DNSError
	var none noPassword
	var length *pgproto3.ExceededMaxBodyLenErr
	switch {
	case errors.As(cause, &said):
		text, advice = fmt.Sprintf("%s (SQLSTATE %s)", said.Message, said.Code), said.Hint
		if said.Code == "42704" || said.Code == "08P01" { // unknown parameter, of PostgreSQL and PgBouncer
			text = withoutParameters(text, failed.Config.RuntimeParams)
			if advice == "" {
				advice = "Leave out of the connection string what PostgreSQL, or the pooler before it, lacks. " +
					"It knows the keywords of libpq, such as sslmode, and its own settings."
			}
		}
		switch {
		case said.Code == "28P01" && failed.Config.Password == "":
			text = "no password was given: " + text
			advice = "Give the password in PGPASSWORD, in ~/.pgpass or in the URL."
		case said.Code == "28P01":
			advice = "The password is wrong, or the role does not exist. " +
				"It is taken from the URL, else from PGPASSWORD, else from ~/.pgpass."
		case said.Code == "28000" && advice == "":
			advice = "Check the user in the URL. The server's pg_hba.conf says who may log in, from where and how."
		case said.Code == "3D000" && advice == "":
			advice = "Check the name at the end of the URL, or create the database. psql -l lists those that exist."
		}
	case errors.As(cause, &unknown):
		text = fmt.Sprintf("the host name %s is not known", unknown.Name)
		advice = "Check the host in the URL, and the name service of this machine."
		if !unknown.IsNotFound {
			text = fmt.Sprintf("the name service has no answer for host %s: %s", unknown.Name, unknown.Err)
		}
	case errors.As(cause, &none):
		advice = none.Hint()
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, os.ErrDeadlineExceeded):
		text, advice = "no answer in time", "Something accepts connections there and says nothing. "+
			"Is the port that of PostgreSQL? Does the server hang?"
		// An attempt that comes after the time is over has a dial error as well. pgx keeps no net.OpError of it.
		all := failed.Error()
		if strings.Count(all, ": dial error: timeout") == strings.Count(all, ": timeout") {
			advice = "Nobody accepts the connection. Is the address right? Does a firewall drop packets?"
		}
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF):
		text, advice = "the server closed the connection", "Is that PostgreSQL?"
	case errors.As(cause, &length): // an HTTP answer read as a message
		text, advice = "what answers there does not speak PostgreSQL's protocol", "Is the port that of PostgreSQL?"
	case text == refusedTLS:
		advice = "The server has TLS turned off. Turn it on there. " +
			"Where nobody can listen on the way, sslmode=disable in the URL connects without."
	case errors.Is(cause, syscall.EINVAL) && len(address) > LongestSocketPath:
		text = fmt.Sprintf("the path of the socket has %d bytes, and this system allows %d",
			len(address), LongestSocketPath)
		advice = "Choose a shorter folder, or connect by TCP."
	case NobodyThere(cause):
		advice = "Is PostgreSQL running there? Expected " + Form + "."
	}
	return fault.WithKind(fault.Unreachable, fault.WithHint(fmt.Errorf("cannot connect to %s: %s",
		Target(failed.Config), text), advice))
}

// Target names what a configuration connects to: address/database as "user".
func Target(config *pgconn.Config) string {
	_, address := pgconn.NetworkAddress(config.Host, config.Port)
	return fmt.Sprintf("%s/%s as %q", address, config.Database, config.User)
}

// refusedTLS is pgx's text if TLS is required and the server has none. There is no error type for it.
const refusedTLS = "server refused TLS connection"

// LongestSocketPath is the longest path of a Unix socket on this system, in bytes. One byte is for the closing zero.
const LongestSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// Refused says that a connection failed because nothing listens at its address.
func Refused(err error) bool { return errors.Is(err, connectionRefused) }

// NobodyThere says that the last attempt failed because nothing listens at its address, or its socket does not exist.
func NobodyThere(err error) bool {
	cause := LastCause(err)
	return Refused(cause) || errors.Is(cause, syscall.ENOENT)
}

// withoutParameters removes the names of parameters from a server's message. If a password has a space and no quotes,
// its second word is read as such a name.
func withoutParameters(text string, params map[string]string) string {
	for name := range params {
		text = strings.ReplaceAll(text, name, "…")
	}
	return text
}

// LastCause is the innermost error of the last attempt. If TLS is preferred, the first attempt usually only says that
// there is none.
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

// OneLine is an explained error in one line, without anything that may be a password.
func OneLine(err error) string {
	return strings.Join(strings.Fields(Masked(Explain(err).Error())), " ")
}

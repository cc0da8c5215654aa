package connect

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// refuses says whether a failed login has an answer: an SQLSTATE that the server gives to which the address leads now.
// A login may have tried several hosts. One answer is enough.
func refuses(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *pgconn.PgError:
		return !saysNothing(e.Code)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), refuses)
	}
	return refuses(errors.Unwrap(err))
}

// saysNothing lists the SQLSTATEs that the old server may give, too.
func saysNothing(code string) bool {
	return strings.HasPrefix(code, "53") || strings.HasPrefix(code, "08") || stops(code) || code == "28P01"
}

// stops lists the SQLSTATEs of a server that ends all sessions, or begins none yet.
func stops(code string) bool { return slices.Contains([]string{"57P01", "57P02", "57P03"}, code) }

// lost says whether a connection ended without our doing. A time-out is no such sign: we end the connection then.
func lost(err error) bool {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return stops(said.Code)
	}
	if late := net.Error(nil); errors.As(err, &late) {
		return !late.Timeout()
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

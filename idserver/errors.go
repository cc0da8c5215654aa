package idserver

import "github.com/jackc/pgx/v5/pgproto3"

// problem is what a client is told of what went wrong: as an ERROR where the session goes on, as FATAL where it ends.
// Those that need no values of a client stand below, and only there.
type problem struct {
	sqlstate string
	message  string
	hint     string
}

func (p problem) Error() string { return p.message }

// Hint says what to do.
func (p problem) Hint() string { return p.hint }

// SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html. Where PostgreSQL has the same error these
// are its own words.
var (
	errDraining = problem{
		"57P01", "terminating connection because the proxy is shutting down",
		"Connect again; another proxy can serve this connection.",
	}
	errNotAccepting = problem{
		"57P03", "the proxy is shutting down", "Connect again; another proxy can serve this connection.",
	}
	errIdle = problem{
		"57P05", "terminating connection due to idle-session timeout", "The proxy's --id-idle-timeout says how long.",
	}
	errInternal = problem{
		"XX000", "internal error of the proxy", "Connect again, and report the proxy's log line to its makers.",
	}
)

// appendError writes an ErrorResponse.
func appendError(b []byte, severity string, p problem) []byte {
	m := pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: p.sqlstate, Message: p.message, Hint: p.hint,
	}
	longer, err := m.Encode(b)
	if err != nil {
		return b // no text here comes near the largest message
	}
	return longer
}

package idserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/idserver/problem"
)

// SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html. If PostgreSQL has the same error, the
// words are its own.
var (
	errDraining = problem.New(
		"57P01", "terminating connection because the proxy is shutting down",
		"Connect again; another proxy can serve this connection.",
	)
	errRemoved = problem.New(
		"57P01", "terminating connection because its account was removed",
		"Whoever runs the proxy may add it again with \"pgflurry clients add\".",
	)
	errNotAccepting = problem.New(
		"57P03", "the proxy is shutting down", "Connect again; another proxy can serve this connection.",
	)
	errIdle = problem.New(
		"57P05", "terminating connection due to idle-session timeout", "The proxy's --id-idle-timeout says how long.",
	)
	errCancelled = problem.New("57014", "canceling statement due to user request", "")
	errInternal  = problem.New(
		"XX000", "internal error of the proxy", "Connect again, and report the proxy's log line to its makers.",
	)
)

// Errors that fail a statement. The session goes on.
var (
	errFunctionCall = problem.New(
		"0A000", "this database answers no FunctionCall", "Send the call as a statement: SELECT next_snowflake().",
	)
	errNoSegments = problem.New(
		"0A000", "this database gives no numbers of tags",
		"The proxy's --id-segments names the database that has them.",
	)
)

// malformed ends a session whose client can no longer be followed.
func malformed(format string, values ...any) error {
	return fatal{problem.New(
		"08P01", fmt.Sprintf(format, values...), "Check the driver, or what stands between it and the proxy.",
	)}
}

// fatal marks a problem that ends the session, although its kind usually does not.
type fatal struct{ told problem.Error }

func (f fatal) Error() string { return f.told.Message }
func (f fatal) Unwrap() error { return f.told }

// problemOf is what the client reads after an error that fails a statement. false means that the error ends the
// session.
func problemOf(err error) (problem.Error, bool) {
	if _, ends := err.(fatal); ends {
		return problem.Error{}, false
	}
	var p problem.Error
	ok := errors.As(err, &p)
	return p, ok
}

// appendWarning writes a NoticeResponse.
func appendWarning(b []byte, p problem.Error) []byte {
	m := pgproto3.NoticeResponse{
		Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: p.SQLState, Message: p.Message, Hint: p.Hint,
	}
	longer, err := m.Encode(b)
	if err != nil {
		return b // as in appendError
	}
	return longer
}

// Reasons to refuse a login for which PostgreSQL has no words.
var (
	errLoginTime = problem.New(
		"08006", "the connection was not established within the login timeout",
		"Connect again. The proxy's --login-timeout says how long a login may take.",
	)
	errTooMany = problem.New(
		"53300", "too many sessions of the ID database",
		"Wait until others have left, or raise the proxy's --max-id-sessions.",
	)
	errNoAccounts = problem.New(
		"57P03", "nobody is listed who may log in to the ID database",
		"Whoever runs the proxy adds a client with \"pgflurry clients add\", or to its --id-auth-file.",
	)
	errAccountsUnread = problem.New(
		"57P03", "the proxy has not read yet who may log in to the ID database",
		"Connect again. If it recurs, look at the proxy's log: it says why the accounts cannot be read.",
	)
)

// accountsTooOld means that the accounts were last read longer than MaxAge ago.
func accountsTooOld(age, limit time.Duration) problem.Error {
	return problem.Errorf("57P03",
		"Bring back the database that has the accounts, or raise the proxy's --id-auth-max-age.",
		"who may log in to the ID database was last read %s ago; logins stop after %s",
		age.Truncate(time.Second), limit)
}

// tooManyAttempts does not reveal whether the user exists: the limit is the same for all names.
func tooManyAttempts(user string, wait time.Duration, all bool) problem.Error {
	seconds := int64((wait + time.Second - 1) / time.Second)
	what := fmt.Sprintf(`for user "%s" from this address`, user)
	if all {
		what = "from this address"
	}
	return problem.Errorf("28000", fmt.Sprintf("Wait %d s. Then connect with the right password.", seconds),
		"too many wrong passwords %s", what)
}

// appendError writes an ErrorResponse, with a detail if there is one.
func appendError(b []byte, severity string, p problem.Error, detail string) []byte {
	m := pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: p.SQLState, Message: p.Message, Detail: detail,
		Hint: p.Hint,
	}
	longer, err := m.Encode(b)
	if err != nil {
		return b // cannot happen: no text here is near the largest message
	}
	return longer
}

package idserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/idserver/command"
)

// problem is an error that a client reads: an ERROR if the session goes on, a FATAL if it ends. All problems without
// values of a client are below, and only there.
type problem struct {
	sqlstate string
	message  string
	hint     string
}

func (p problem) Error() string { return p.message }

// Hint says what to do.
func (p problem) Hint() string { return p.hint }

// SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html. If PostgreSQL has the same error, the
// words are its own.
var (
	errDraining = problem{
		"57P01", "terminating connection because the proxy is shutting down",
		"Connect again; another proxy can serve this connection.",
	}
	errRemoved = problem{
		"57P01", "terminating connection because its account was removed",
		"Whoever runs the proxy may add it again with \"pgflurry clients add\".",
	}
	errNotAccepting = problem{
		"57P03", "the proxy is shutting down", "Connect again; another proxy can serve this connection.",
	}
	errIdle = problem{
		"57P05", "terminating connection due to idle-session timeout", "The proxy's --id-idle-timeout says how long.",
	}
	errCancelled = problem{"57014", "canceling statement due to user request", ""}
	// for a FETCH from a portal whose statement gives no rows
	errNoRows = problem{
		"XX000", "unsupported portal strategy", "FETCH from a cursor, or from a portal of a SELECT.",
	}
	errInternal = problem{
		"XX000", "internal error of the proxy", "Connect again, and report the proxy's log line to its makers.",
	}
)

// Errors that fail a statement. The session goes on.
var (
	errMessage = problem{
		"08P01", "invalid message format", "Check the driver, or what stands between it and the proxy.",
	}
	errSeveral = problem{"42601", "cannot insert multiple commands into a prepared statement", ""}

	errFailedBlock = problem{
		"25P02", "current transaction is aborted, commands ignored until end of transaction block", "",
	}
	errChanged = problem{
		"0A000", "cached plan must not change result type",
		"The cursor or statement is another one than when this was bound. Bind it again.",
	}
	errNoUnnamed   = problem{"26000", "unnamed prepared statement does not exist", ""}
	errNoParameter = problem{"42P02", "there is no parameter $1", ""}

	errFunctionCall = problem{
		"0A000", "this database answers no FunctionCall", "Send the call as a statement: SELECT next_snowflake().",
	}
	errNoSegments = problem{
		"0A000", "this database gives no numbers of tags",
		"The proxy's --id-segments names the database that has them.",
	}
)

func noStatement(name string) problem {
	return problem{"26000", `prepared statement "` + name + `" does not exist`, ""}
}

func noPortal(name string) problem {
	return problem{"34000", `portal "` + name + `" does not exist`, ""}
}

func cannotRun(name string) problem {
	return problem{"55000", `portal "` + name + `" cannot be run`, "It has run: bind the statement again."}
}

func noCursor(name string) problem {
	return problem{"34000", `cursor "` + name + `" does not exist`, ""}
}

func needsBlock(what string) problem {
	return problem{"25P01", what + " can only be used in transaction blocks", ""}
}

func noSetting(name string) problem {
	return problem{"42704", `unrecognized configuration parameter "` + name + `"`, ""}
}

// malformed ends a session whose client can no longer be followed.
func malformed(format string, values ...any) error {
	return fatal{problem{
		"08P01", fmt.Sprintf(format, values...), "Check the driver, or what stands between it and the proxy.",
	}}
}

// fatal marks a problem that ends the session, although its kind usually does not.
type fatal struct{ problem }

func (f fatal) Unwrap() error { return f.problem }

// problemOf is what the client reads after an error that fails a statement. false means that the error ends the
// session.
func problemOf(err error) (problem, bool) {
	if _, ends := err.(fatal); ends {
		return problem{}, false
	}
	var p problem
	if errors.As(err, &p) {
		return p, true
	}
	if refused := new(command.Error); errors.As(err, &refused) {
		return problem{refused.Code, refused.Message, refused.Hint()}, true
	}
	return problem{}, false
}

// appendWarning writes a NoticeResponse.
func appendWarning(b []byte, p problem) []byte {
	m := pgproto3.NoticeResponse{
		Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: p.sqlstate, Message: p.message, Hint: p.hint,
	}
	longer, err := m.Encode(b)
	if err != nil {
		return b // as in appendError
	}
	return longer
}

// Reasons to refuse a login for which PostgreSQL has no words.
var (
	errLoginTime = problem{
		"08006", "the connection was not established within the login timeout",
		"Connect again. The proxy's --login-timeout says how long a login may take.",
	}
	errTooMany = problem{
		"53300", "too many sessions of the ID database",
		"Wait until others have left, or raise the proxy's --max-id-sessions.",
	}
	errNoAccounts = problem{
		"57P03", "nobody is listed who may log in to the ID database",
		"Whoever runs the proxy adds a client with \"pgflurry clients add\", or to its --id-auth-file.",
	}
	errAccountsUnread = problem{
		"57P03", "the proxy has not read yet who may log in to the ID database",
		"Connect again. If it recurs, look at the proxy's log: it says why the accounts cannot be read.",
	}
)

// accountsTooOld means that the accounts were last read longer than MaxAge ago.
func accountsTooOld(age, limit time.Duration) problem {
	return problemf("57P03", "Bring back the database that has the accounts, or raise the proxy's --id-auth-max-age.",
		"who may log in to the ID database was last read %s ago; logins stop after %s",
		age.Truncate(time.Second), limit)
}

// tooManyAttempts does not reveal whether the user exists: the limit is the same for all names.
func tooManyAttempts(user string, wait time.Duration, all bool) problem {
	seconds := int64((wait + time.Second - 1) / time.Second)
	what := fmt.Sprintf(`for user "%s" from this address`, user)
	if all {
		what = "from this address"
	}
	return problemf("28000", fmt.Sprintf("Wait %d s. Then connect with the right password.", seconds),
		"too many wrong passwords %s", what)
}

// problemf is a problem with values of a client.
func problemf(sqlstate, hint, format string, values ...any) problem {
	return problem{sqlstate: sqlstate, message: fmt.Sprintf(format, values...), hint: hint}
}

// appendError writes an ErrorResponse, with a detail if there is one.
func appendError(b []byte, severity string, p problem, detail string) []byte {
	m := pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: p.sqlstate, Message: p.message, Detail: detail,
		Hint: p.hint,
	}
	longer, err := m.Encode(b)
	if err != nil {
		return b // cannot happen: no text here is near the largest message
	}
	return longer
}

package idserver

import (
	"errors"
	"fmt"
	"time"

	"pgflurry/internal/fault"
)

// SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html. If PostgreSQL has the same error, the
// words are its own.
var (
	errRemoved = fault.New(
		"57P01", "terminating connection because its account was removed",
		"Whoever runs the proxy may add it again with \"pgflurry clients add\".",
	)
	errIdle = fault.New(
		"57P05", "terminating connection due to idle-session timeout", "The proxy's --id-idle-timeout says how long.",
	)
	errCancelled = fault.New("57014", "canceling statement due to user request", "")
)

// Errors that fail a statement. The session goes on.
var (
	errFunctionCall = fault.New(
		"0A000", "this database answers no FunctionCall", "Send the call as a statement: SELECT next_snowflake().",
	)
	errNoSegments = fault.New(
		"0A000", "this database gives no numbers of tags",
		"The proxy's --id-segments names the database that has them.",
	)
)

// malformed ends a session whose client can no longer be followed.
func malformed(format string, values ...any) error {
	return fatal{fault.Errorf("08P01", fault.CheckDriver, format, values...)}
}

// fatal marks an error that ends the session, although its kind usually does not.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// errorOf is what the client reads of an error; false: nothing.
func errorOf(err error) (sent fault.Error, ok bool) {
	ok = errors.As(err, &sent)
	return sent, ok
}

// Reasons to refuse a login for which PostgreSQL has no words.
var (
	errTooMany = fault.New(
		"53300", "too many sessions of the ID database",
		"Wait until others have left, or raise the proxy's --max-id-sessions.",
	)
	errNoAccounts = fault.New(
		"57P03", "nobody is listed who may log in to the ID database",
		"Whoever runs the proxy adds a client with \"pgflurry clients add\", or to its --id-auth-file.",
	)
	errAccountsUnread = fault.New(
		"57P03", "the proxy has not read yet who may log in to the ID database",
		"Connect again. If it recurs, look at the proxy's log: it says why the accounts cannot be read.",
	)
)

// accountsTooOld means that the accounts were last read longer than MaxAge ago.
func accountsTooOld(age, limit time.Duration) fault.Error {
	return fault.Errorf("57P03",
		"Bring back the database that has the accounts, or raise the proxy's --id-auth-max-age.",
		"who may log in to the ID database was last read %s ago; logins stop after %s",
		age.Truncate(time.Second), limit)
}

// tooManyAttempts does not reveal whether the user exists: the limit is the same for all names.
func tooManyAttempts(user string, wait time.Duration, all bool) fault.Error {
	seconds := int64((wait + time.Second - 1) / time.Second)
	what := fmt.Sprintf(`for user "%s" from this address`, user)
	if all {
		what = "from this address"
	}
	return fault.Errorf("28000", fmt.Sprintf("Wait %d s. Then connect with the right password.", seconds),
		"too many wrong passwords %s", what)
}

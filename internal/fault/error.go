package fault

import "fmt"

// Error is what a client reads: an ERROR if its session goes on, a FATAL if that ends. It holds no secret. Two with the
// same texts are equal.
type Error struct {
	SQLState string // https://www.postgresql.org/docs/current/errcodes-appendix.html
	Message  string // lower case, no full stop
	Detail   string // whole sentences, as Hint; empty if the message says enough
	Hint     string // what to do
}

func (e Error) Error() string {
	if e.Detail == "" {
		return e.Message
	}
	return e.Message + ": " + e.Detail
}

// New is an Error without a detail.
func New(sqlState, message, hint string) Error {
	return Error{SQLState: sqlState, Message: message, Hint: hint}
}

// Errorf is an Error whose message holds values.
func Errorf(sqlState, hint, format string, values ...any) Error {
	return New(sqlState, fmt.Sprintf(format, values...), hint)
}

// The errors of each session through the proxy, with PostgreSQL or without.
var (
	Draining = New("57P01", "terminating connection because the proxy is shutting down", ConnectElsewhere)
	// NotAccepting is for a client that has not logged in.
	NotAccepting = New("57P03", "the proxy is shutting down", ConnectElsewhere)
	// LoginTime means that the login took too long.
	LoginTime = New(
		"08006", "the connection was not established within the login timeout",
		"Connect again. The proxy's --login-timeout says how long a login may take.",
	)
	// TooManyLogins is for a client that has to give way before it has logged in, or finds no place.
	TooManyLogins = New(
		"53300", "too many connections to the proxy that have not logged in",
		"Connect again, or raise the proxy's --max-logins or --max-logins-per-address.",
	)
	Internal = New("XX000", "internal error of the proxy", ReportLog)
)

// Hints of several errors.
const (
	CheckDriver      = "Check the driver, or what stands between it and the proxy."
	ConnectElsewhere = "Connect again; another proxy can serve this connection."
	ReportLog        = "Connect again, and report the proxy's log line to its makers."
)

package watch

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// errorClass is what a failed question says about a database.
type errorClass int

const (
	refused errorClass = iota // PostgreSQL says no
	unasked                   // the upstream takes or refuses logins, but the question had no answer
	away                      // nothing is there, or not yet
)

// classOf classifies the errors of connect.Asker.
func classOf(err error) errorClass {
	var said *pgconn.PgError
	var login *connect.LoginError
	var broken *connect.BrokenError
	switch {
	case errors.As(err, &said):
		return classOfCode(said.Code)
	case errors.As(err, &login):
		return away
	case errors.As(err, &broken):
		return unasked
	}
	return refused // the session works, but its answer makes no sense
}

func classOfCode(code string) errorClass {
	switch {
	case slices.Contains([]string{"57P01", "57P02", "57P03"}, code): // it shuts down, or starts
		return away
	// Temporary failures: too many connections and other scarcity, all errors of a pooler, a cancelled query, a lock, a
	// rollback. The next look may succeed.
	case slices.Contains([]string{"53", "08", "40"}, code[:min(2, len(code))]),
		slices.Contains([]string{"57014", "57P05", "55P03"}, code):
		return unasked
	}
	return refused
}

// Away says whether an error of a connect.Asker means that no PostgreSQL is there, or not yet.
func Away(err error) bool { return classOf(err) == away }

// lookHint says what to do about a database whose look fails.
func lookHint(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "28000" && strings.Contains(said.Message, "no encryption") {
		return "Give the proxy --upstream-tls require, or verify-full with --upstream-tls-ca."
	}
	if connect.NobodyThere(err) || errors.As(err, new(*net.DNSError)) { // a URL is expected of the lease database alone
		return "Is PostgreSQL running there? --upstream says where: HOST:PORT, or a Unix socket."
	}
	if advice := fault.HintOf(connect.Explain(err)); advice != "" {
		return advice
	}
	return fault.HintOf(err)
}

package node

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/connstring"
	"pgflurry/hint"
)

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
	// Too many connections and other scarcity, all errors of a pooler, cancelled, a lock, a rollback: the next look may
	// be luckier.
	case slices.Contains([]string{"53", "08", "40"}, code[:min(2, len(code))]),
		slices.Contains([]string{"57014", "57P05", "55P03"}, code):
		return unasked
	}
	return refused
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

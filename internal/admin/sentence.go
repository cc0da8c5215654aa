package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/report"
)

// Sentence is the node's state in one line: which node it is, how fresh the state is, and how long IDs last without
// PostgreSQL. A service manager shows it, and the status page begins with it.
func Sentence(s report.State) string {
	text := leaseSentence(s)
	switch {
	case s.Draining:
		return fmt.Sprintf("Draining, %s left. %s", withNoun(open(s), "session"), text)
	case !s.Listening:
		return "Clients are not accepted yet. " + text
	}
	return text
}

// open is how many clients are connected, those of the ID database included.
func open(s report.State) int { return relayed(s) + s.IDDatabase.Sessions() }

// relayed is how many clients have a session with PostgreSQL, or begin one.
func relayed(s report.State) int { return report.Total(s.Sessions.Open) }

// leaseSentence says which worker the node holds, or why it has none.
func leaseSentence(s report.State) string {
	l := s.Lease
	if l.Granted && l.Reserve > 0 && nobodyAnswered(s) {
		return fmt.Sprintf("Worker %d, renewed %s ago, but no database%s gets IDs from memory: %s",
			l.Worker, lasting(s.At.Sub(l.Renewed)), withID(s, " but "+oneLine(s.IDDatabase.Name)), instead(s))
	}
	switch standing(s) {
	case "good":
		return fmt.Sprintf("Worker %d, renewed %s ago, IDs for %s without PostgreSQL",
			l.Worker, lasting(s.At.Sub(l.Renewed)), lasting(l.Reserve))
	case "ending":
		return fmt.Sprintf("Worker %d is no longer held, its IDs last %s: %s", l.Worker, lasting(l.Reserve), whyNone(s))
	}
	if l.Held {
		return fmt.Sprintf("Worker %d, renewed %s ago, too long for IDs from memory: %s%s",
			l.Worker, lasting(s.At.Sub(l.Renewed)), instead(s), withID(s, noneThere))
	}
	return fmt.Sprintf("No worker, %s%s: %s", instead(s), withID(s, noneThere), whyNone(s))
}

// instead says who answers calls that get no IDs from memory.
func instead(s report.State) string {
	if upstreamAway(s) {
		return "calls go to PostgreSQL, which does not answer"
	}
	return "calls go to PostgreSQL"
}

// upstreamAway says that the last look at each database found no PostgreSQL.
func upstreamAway(s report.State) bool {
	answers := func(d report.Database) bool { return d.Away == "" }
	return len(s.Databases) > 0 && !slices.ContainsFunc(s.Databases, answers)
}

// noneThere says what missing IDs mean for the ID database, where no PostgreSQL answers instead.
const noneThere = ", and the ID database has no IDs"

// withID is text on a node with an ID database; empty on others.
func withID(s report.State, text string) string {
	if s.IDDatabase.Name == "" {
		return ""
	}
	return text
}

// whyNone says why there is no worker.
func whyNone(s report.State) string {
	until := ""
	if s.Lease.Opens.After(s.At) {
		until = fmt.Sprintf(" until %s, for %s", instant(s.Lease.Opens), lasting(s.Lease.Opens.Sub(s.At)))
	}
	if known := fault.Of(s.Lease.Reason).Page; known != "" {
		return fault.Until(known, until)
	}
	cause, _, _ := strings.Cut(s.Lease.Cause, "\n")
	switch cause = oneLine(cause); {
	case cause != "":
		return cause
	case s.Draining:
		return "it was given back"
	case s.Namespace.ID == "":
		return "the namespace was not read yet"
	}
	return "none was granted yet"
}

// stateKey changes when a screen reader has to announce the state, and not every second.
func stateKey(s report.State, warnings []Warning) string {
	kinds := make([]string, 0, len(warnings))
	for _, w := range warnings {
		kinds = append(kinds, w.Kind)
	}
	l := s.Lease
	return fmt.Sprintf("%t %t %t %d %t %s %s", s.Listening, s.Draining, l.Held, l.Worker, l.Reserve > 0,
		l.Reason, strings.Join(kinds, " "))
}

// nobodyAnswered says that no listed database gets IDs from memory, whatever the lease reserves.
func nobodyAnswered(s report.State) bool {
	answered := func(d report.Database) bool { return d.IDs != "none" }
	return len(s.Databases) > 0 && !slices.ContainsFunc(s.Databases, answered)
}

// standing is "good", "ending" (IDs come from memory, but the worker is no longer held) or "none".
func standing(s report.State) string {
	l := s.Lease
	switch {
	case l.Reserve <= 0, nobodyAnswered(s):
		return "none"
	case l.Held:
		return "good"
	case l.Granted:
		return "ending"
	}
	return "none"
}

// share is how much of a window is left, in percent.
func share(left, window time.Duration) int {
	if window <= 0 {
		return 0
	}
	return int(min(100, max(0, 100*left/window)))
}

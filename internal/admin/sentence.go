package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/report"
)

// Sentence is the node's state in one line: its headline, and what its lease is worth. A service manager shows it.
func Sentence(s report.State) string { return headline(s, "") + ". " + worth(s.Lease, s.At) }

// headline says who gets IDs from memory, at which rate if that is known, or why nobody does. The page begins with it.
func headline(s report.State, rate string) string {
	text := supply(s, rate)
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

// supply is the headline of a node that accepts clients.
func supply(s report.State, rate string) string {
	l := s.Lease
	switch {
	case l.Reserve <= 0 || !l.Granted:
		return fmt.Sprintf("No IDs from memory, %s%s: %s", instead(s),
			withID(s, ", and the ID database has no IDs"), whyNone(s))
	case nobodyAnswered(s):
		return fmt.Sprintf("No database%s gets IDs from memory, %s", withID(s, " but "+oneLine(s.IDDatabase.Name)),
			instead(s))
	}
	text := served(s) + rate + except(s, "qualified", "only with the schema in") + except(s, "none", "none in")
	if !renewing(l) {
		text = fmt.Sprintf("IDs from memory last until %s, for %s", instant(s.At.Add(l.Reserve)), lasting(l.Reserve))
	}
	switch {
	case upstreamAway(s):
		text += "; PostgreSQL does not answer"
	case !renewing(l):
		text += ": " + whyNone(s)
	}
	return text
}

// renewing says that the lease is held, and that nothing is known to be in the way of its next renewal.
func renewing(l report.Lease) bool { return l.Held && l.Reason == "" }

// served says which databases get IDs from memory. A caller knows that there are IDs.
func served(s report.State) string {
	var who []string
	known, all := len(s.Databases), len(named(s, "all"))
	switch {
	case known == 1:
		who = append(who, "Database "+oneLine(s.Databases[0].Name))
	case known > 1:
		who = append(who, fmt.Sprintf("%d of %d databases", all, known))
	}
	if s.IDDatabase.Name != "" {
		who = append(who, "ID database "+oneLine(s.IDDatabase.Name))
	}
	switch {
	case len(who) == 0:
		return "IDs are in memory, and no database is known yet"
	case len(who) == 1 && (known < 2 || all == 1):
		return who[0] + " gets IDs from memory"
	}
	return strings.Join(who, " and ") + " get IDs from memory"
}

// except says in which databases so many calls get IDs from memory. Empty: there is no such database.
func except(s report.State, permitted, says string) string {
	switch names := named(s, permitted); len(names) {
	case 0:
		return ""
	case 1:
		return "; " + says + " " + names[0]
	default:
		return "; " + says + " " + grouped(len(names)) + " others"
	}
}

// named are the databases where so many calls get IDs from memory: all, qualified, none.
func named(s report.State, permitted string) (names []string) {
	for _, d := range s.Databases {
		if d.IDs == permitted {
			names = append(names, oneLine(d.Name))
		}
	}
	return names
}

// worth says which worker a lease holds, how fresh it is, and for how long it gives IDs.
func worth(l report.Lease, now time.Time) string {
	switch {
	case renewing(l) && l.Reserve > 0:
		return fmt.Sprintf("Worker %d, renewed %s ago, IDs would go on for %s without PostgreSQL",
			l.Worker, lasting(now.Sub(l.Renewed)), lasting(l.Reserve))
	case l.Held:
		return fmt.Sprintf("Worker %d, renewed %s ago", l.Worker, lasting(now.Sub(l.Renewed)))
	}
	return "No worker is leased"
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
	case s.Lease.Held:
		return "no renewal for " + lasting(s.At.Sub(s.Lease.Renewed))
	case s.Draining:
		return "the worker was given back"
	case s.Namespace.ID == "":
		return "the namespace was not read yet"
	}
	return "no worker was granted yet"
}

// nobodyAnswered says that no listed database gets IDs from memory, whatever the lease reserves.
func nobodyAnswered(s report.State) bool {
	return len(s.Databases) > 0 && len(named(s, "none")) == len(s.Databases)
}

// standing is "good", "partly" (IDs come from memory, but not for long or not for all) or "none".
func standing(s report.State) string {
	switch l := s.Lease; {
	case l.Reserve <= 0, !l.Granted, nobodyAnswered(s):
		return "none"
	case renewing(l) && len(named(s, "none")) == 0:
		return "good"
	}
	return "partly"
}

package rows

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pgflurry/tests/support/server"
)

// SQLSTATEs of the guards.
const (
	tooFar     = "42501" // a mark beyond what a lease needs
	closedGood = "SNF04" // a mark in a closed database
)

// newGuardedRoom makes a room in which the guards hold. A role that may only keep leases runs the statements.
func newGuardedRoom(t *testing.T, unit time.Duration, windows string) *room {
	t.Helper()
	r := newRoom(t, unit, windows)
	const role = "keeper_of_any_state"
	r.runner = server.Connect(t, server.Role(t, r.conn.Config().ConnString(), role))
	r.do(guarded)
	r.do("CALL pgflurry.grant_lease('" + role + "')")
	r.guards = guardRelease
	return r
}

// guardRelease is what the guards make of a release. They stop it only if it raises a mark that the row has forgotten.
// Either the database is closed, or the mark is further ahead than any lease gets. The row then rests for the
// quarantine.
func guardRelease(before, here *Table, worker int, answer Answer) Answer {
	if worker >= len(before.Rows) || here.Rows[worker].Mark == before.Rows[worker].Mark {
		return answer
	}
	highest := before.Now + before.MaxWindow + 2*before.Skew
	was := before.Rows[worker]
	if was.Renewed >= 0 {
		highest = max(highest, was.Mark+max(0, before.Now-was.Renewed))
	}
	switch mark := here.Rows[worker].Mark; {
	case before.Closed:
		*here = before.Clone()
		return Answer{closedGood}
	case mark > max(highest, was.Mark):
		*here = before.Clone()
		return Answer{tooFar}
	}
	here.Rows[worker].Renewed = before.Now
	return answer
}

func TestTheGuardsRefuseNoHonestStatementOfARoleThatKeepsLeases(t *testing.T) {
	for name, c := range map[string]struct {
		unit    time.Duration
		windows string
	}{
		"short windows":      {time.Millisecond, usual},
		"windows of an hour": {time.Millisecond, "max_window = '1 h', skew = '2 s', quarantine = '1 h 4 s'"},
		"a unit of 1 s":      {time.Second, "max_window = '60 s', skew = '2 s', quarantine = '120 s'"},
		"a unit of 999 ms":   {999 * time.Millisecond, "max_window = '1 h', skew = '2 s', quarantine = '1 h 10 s'"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newGuardedRoom(t, c.unit, c.windows)
			rapid.Check(t, func(t *rapid.T) {
				statement := rapid.SampledFrom([]string{"acquire", "renew", "renew", "release"}).Draw(t, "statement")
				if what := r.compare(t, statement); what != "" {
					t.Fatal(what)
				}
			})
		})
	}
}

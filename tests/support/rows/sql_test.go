package rows

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", volume.Of("30", "100")); err != nil {
		panic(err)
	}
	server.Main(m)
}

// anyStatement picks one of the statements.
func anyStatement(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"acquire", "acquire", "renew", "renew", "renew", "release", "reseed", "retire", "quarantine", "long_grants",
	}).Draw(t, "statement")
}

// compare runs a statement on one state in both places. It returns the difference, or "".
func (r *room) compare(t *rapid.T, statement string) string {
	before := r.anyTable(t)
	here := before.Clone()
	r.load(&before)
	var want, got Answer
	switch statement {
	case "acquire":
		a := r.anyAcquire(t)
		got = r.run("acquire", a.Namespace, a.Owner, a.Node, "address", "version", a.Window, a.Lowest, a.Highest,
			a.Longest)
		taken := -1
		if len(got) > 4 && got[4] != nil {
			taken = int(got[4].(int64))
		}
		var may []int
		want = here.Acquire(a, func(workers []int) int {
			if may = workers; slices.Contains(workers, taken) {
				return taken
			}
			return workers[0]
		})
		if may != nil && !slices.Contains(may, taken) {
			return fmt.Sprintf("acquire %+v on %+v took worker %v, expected one of %d", a, before, got, may)
		}
	case "renew":
		n := r.anyRenew(t, &before)
		got = r.run("renew", n.Namespace, n.Worker, n.Owner, n.Term, n.Acknowledged, n.Wanted, n.Window)
		want = here.Renew(n)
	case "release":
		n := r.anyRenew(t, &before)
		l := Release{
			Namespace: n.Namespace, Worker: n.Worker, Owner: n.Owner, Term: n.Term, Acknowledged: n.Acknowledged,
		}
		got = r.run("release", l.Namespace, l.Worker, l.Owner, l.Term, l.Acknowledged)
		want = here.Release(l)
		if r.guards != nil {
			want = r.guards(&before, &here, l.Worker, want)
		}
	case "reseed":
		got = r.run("reseed")
		want = here.Reseed(func() string { return "new" })
	case "quarantine":
		more := rapid.SampledFrom([]int64{0, 2 * longer(r.settings)}).Draw(t, "quarantine")
		quarantine := r.settings.Quarantine + more
		got = r.run("quarantine", quarantine*before.Unit)
		here.SetQuarantine(quarantine)
	case "long_grants":
		got = r.run("long_grants")
		want = Answer{here.LongGrants()}
	case "retire":
		worker, held := rapid.IntRange(0, len(before.Rows)-1).Draw(t, "worker"), rapid.Bool().Draw(t, "held")
		got = r.run("retire", worker, held)[:1]
		want = Answer{here.Retire(worker, held)}
	}
	there := r.state(&before)
	for i := range there.Rows { // the server chooses the new owners
		if there.Rows[i].Owner != before.Rows[i].Owner && here.Rows[i].Owner == "new" {
			there.Rows[i].Owner = "new"
		}
	}
	if there.AcquireAfter > before.AcquireAfter && r.guards != nil && there.GateBy != before.GateBy {
		there.GateBy = before.GateBy // the guard has written who it was
	}
	if fmt.Sprint(want) != fmt.Sprint(got) || fmt.Sprintf("%+v", here) != fmt.Sprintf("%+v", there) {
		return fmt.Sprintf("%s\nbefore: %+v\nanswer: %v\n  here: %v\nPostgreSQL: %+v\n      here: %+v",
			statement, before, got, want, there, here)
	}
	return ""
}

// usual are windows whose quarantine is as short as it may be.
const usual = "max_window = '6 s', skew = '500 ms', quarantine = '7 s'"

func TestTheTableDecidesAsTheStatementsDoFromAnyState(t *testing.T) {
	r := newRoom(t, time.Millisecond, usual)
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			if what := r.compare(t, anyStatement(t)); what != "" {
				t.Fatal(what)
			}
		})
	}
}

//go:build full

package simulation

import (
	"fmt"
	"time"
)

// A scenario is a fleet in the table of docs/operations.md, a column each.
type scenario struct {
	proxies int
	fleetSettings
	large bool // takes minutes of processor time: only with PGFLURRY_TEST_SCALE
}

var scenarios = []scenario{
	{proxies: 100, fleetSettings: fleetSettings{capacity: measured}},
	{proxies: 1000, fleetSettings: fleetSettings{capacity: measured}},
	{proxies: 10_000, fleetSettings: fleetSettings{workerBits: 14, capacity: pooled()}, large: true},
}

// pooled is a larger server with a pooler in front.
func pooled() capacity {
	c := measured
	c.cores, c.pooled = 8, 32
	return c
}

// An upheaval is an event that hits all proxies at once.
type upheaval struct {
	name   string
	follow time.Duration // time until all is well again
	happen func(f *fleet, n int)
}

var upheavals = []upheaval{
	{"all start at once", time.Minute, func(f *fleet, n int) { f.startAll("a", n) }},
	{"PostgreSQL is away for two minutes", time.Minute, func(f *fleet, n int) { f.without(2 * time.Minute) }},
	{"PostgreSQL is away for six minutes", 2 * time.Minute, func(f *fleet, n int) { f.without(6 * time.Minute) }},
	{"all end in good order, and others start", 2 * time.Minute, func(f *fleet, n int) {
		f.finishAll()
		f.startAll("b", n)
	}},
	{"all are killed, and others start", 4 * time.Minute, func(f *fleet, n int) {
		f.killAll()
		f.startAll("c", n)
	}},
	{"failover, and all go on", time.Minute, func(f *fleet, n int) { f.failover() }},
	{"failover, and all are killed and others start", 5 * time.Minute, func(f *fleet, n int) {
		f.pass(4 * time.Minute) // the workers of proxies that were killed before are free again
		f.failover()
		f.killAll()
		f.startAll("d", n)
	}},
}

// without lets the database refuse connections for a time.
func (f *fleet) without(d time.Duration) {
	f.database.cut()
	f.database.away = stopped
	f.pass(d)
	f.database.away = present
}

// tell lets an event happen, and returns after how long all have IDs again.
func (f *fleet) tell(e upheaval, n int) string {
	e.happen(f, n)
	from := len(f.seconds)
	f.pass(e.follow)
	after := f.issuing(from, n)
	if after < 0 {
		return "never"
	}
	return fmt.Sprintf("%d s", after)
}

// A change is a way in which proxies come and go.
type change struct {
	name    string
	planned plan
	live    func(f *fleet, n int)
}

// A plan is how many workers 200 proxies take, with a window of a minute and of an hour: by docs/operations.md.
type plan struct{ minute, hour int }

var changes = []change{
	{"nothing", plan{200, 200}, func(f *fleet, n int) { f.pass(10 * time.Minute) }},
	{"a deployment, one a second: the new one starts, then the old one ends", plan{260, 400}, func(f *fleet, n int) {
		f.deploy(n, func(m *member, i int) {
			f.begin(fmt.Sprint("next-", i))
			f.pass(time.Second)
			m.finish()
		})
	}},
	{"the same, and the old one ends first", plan{260, 400}, func(f *fleet, n int) {
		f.deploy(n, func(m *member, i int) {
			m.finish()
			f.pass(time.Second)
			f.begin(fmt.Sprint("next-", i))
		})
	}},
	{"the same, under the old one's node name", plan{260, 400}, func(f *fleet, n int) {
		f.deploy(n, func(m *member, _ int) {
			m.finish()
			f.pass(time.Second)
			f.begin(m.node)
		})
	}},
	{"each minute a fifth more, then a fifth fewer, in good order", plan{240, 281}, func(f *fleet, n int) {
		f.scale(n, (*member).finish)
	}},
	{"the same, and those that go are killed", plan{280, 600}, func(f *fleet, n int) { f.scale(n, (*member).kill) }},
	{"five of them crash 2 s after each start, and start again 1 s later", plan{420, 1200}, func(f *fleet, _ int) {
		f.crash(5, 10*time.Minute)
	}},
	{"all are killed at once, and others start", plan{400, 400}, func(f *fleet, n int) {
		f.killAll()
		f.startAll("next", n)
		f.pass(time.Minute)
	}},
}

// deploy replaces the members one by one.
func (f *fleet) deploy(n int, replace func(*member, int)) {
	for i, m := range f.members[:n] {
		replace(m, i)
	}
	f.pass(time.Minute)
}

// scale adds a fifth of the members, and removes it again.
func (f *fleet) scale(n int, leave func(*member)) {
	for round := range 10 {
		before := len(f.members)
		for i := range n / 5 {
			f.begin(fmt.Sprint("more-", round, "-", i))
		}
		f.pass(time.Minute)
		for _, m := range f.members[before:] {
			leave(m)
		}
		f.pass(time.Minute)
		f.members = f.members[:before]
	}
}

// crash lets some members crash again and again. Each replacement is another node, as a pod of a Deployment is.
func (f *fleet) crash(some int, length time.Duration) {
	for round := range int(length / (3 * time.Second)) {
		before := len(f.members)
		for i := range some {
			f.begin(fmt.Sprint("crashing-", round, "-", i))
		}
		f.pass(2 * time.Second)
		for _, m := range f.members[before:] {
			m.kill()
		}
		f.members = f.members[:before]
		f.pass(time.Second)
	}
}

// needed returns the greatest number of workers that were taken or in quarantine during a change.
func (f *fleet) needed(c change, n int) int {
	f.startAll("a", n)
	f.pass(10 * time.Minute)
	from := len(f.seconds)
	c.live(f, n)
	return most(f.seconds[from:], func(s second) int { return s.taken })
}

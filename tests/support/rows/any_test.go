package rows

import (
	"fmt"

	"pgregory.net/rapid"
)

// Few nodes, owners and times, so that they coincide.
var nodes = []string{"a", "b"}

func owner(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func seldom(t *rapid.T, what string) bool { return rapid.IntRange(0, 19).Draw(t, what) == 0 }

// around returns distances from now at which a decision changes, and their neighbours.
func around(distances ...int64) (all []int64) {
	for _, d := range distances {
		all = append(all, d-1, d, d+1)
	}
	return all
}

// short is the restart quarantine of a namespace that has one.
const short = 3

func (r *room) anyTable(t *rapid.T) Table {
	s := r.settings
	now := 10*s.Quarantine + rapid.Int64Range(0, 10).Draw(t, "now")
	// with a longer unit PostgreSQL cannot tell ticks apart there
	if s.Unit <= 1000 && rapid.IntRange(0, 30).Draw(t, "end of time") == 0 {
		now = s.End - 3 + rapid.Int64Range(0, 4).Draw(t, "end")
	}
	rest := s.MaxWindow + 2*s.Skew
	table := Table{
		Settings: s, Oids: r.oids,
		Now: now, Server: rapid.SampledFrom([]string{"00000001", "00000001", "00000002", ""}).Draw(t, "server"),
		Timeline: rapid.SampledFrom([]string{"00000001", "00000001", "00000001", "00000002", ""}).Draw(t,
			"timeline"),
		AcquireAfter: max(0, now+rapid.SampledFrom(append(around(0), -1<<40, -s.Quarantine-2*s.Skew-1,
			-s.Quarantine-2*s.Skew, -2*s.Skew, s.Quarantine, s.Quarantine+2*s.Skew)).Draw(t, "acquire after")),
		Started: now - rapid.SampledFrom(append(around(rest, short, 2*s.MaxWindow+s.MaxWindow/2+2*s.Skew), 0, 1,
			s.Skew, 5*s.Quarantine, 5*s.Quarantine, 5*s.Quarantine)).Draw(t, "started"),
		Born: rapid.IntRange(0, 2).Draw(t, "born") == 0, Joins: rapid.Bool().Draw(t, "joins"),
		Generation: rapid.Int64Range(1, 3).Draw(t, "generation"),
		GateBy:     rapid.SampledFrom([]string{"", "somebody"}).Draw(t, "gate by"),
		Copied:     seldom(t, "copied"), Closed: seldom(t, "closed"),
		Rows: make([]Row, 8),
	}
	table.RestartQuarantine = rapid.SampledFrom([]int64{
		Usual, Usual, Usual, 0, short, 2 * s.Quarantine,
	}).Draw(t, "restart quarantine")
	table.Quarantine += rapid.SampledFrom([]int64{0, 0, 0, longer(s)}).Draw(t, "quarantine before")
	if seldom(t, "elsewhere") {
		table.Home = "elsewhere"
	}
	for i := range table.Rows {
		table.Rows[i] = table.anyRow(t)
		table.Rows[i].Kept = i == 0 || i == otherGenerators
	}
	return table
}

// longer is by how much one quarantine is longer than the other.
func longer(s Settings) int64 { return max(1, s.MaxWindow/6) }

// edges are the distances from now at which a decision on a mark changes.
func edges(s Settings) []int64 {
	return append(around(0, -s.Quarantine, -s.Quarantine+s.Skew), -2*s.Quarantine-2*s.Skew, -s.Quarantine-3*s.Skew,
		-2*s.Skew, s.Skew, s.MaxWindow/2, s.MaxWindow, s.MaxWindow+s.Skew, s.MaxWindow+s.Skew+1, 3*s.Quarantine)
}

func (t *Table) anyRow(d *rapid.T) Row {
	now, s := t.Now, t.Settings
	if rapid.IntRange(0, 2).Draw(d, "never used") == 0 {
		return Row{
			Renewed: -1, Mark: rapid.SampledFrom([]int64{0, 0, now - 1, now, now + 1}).Draw(d, "mark of never used"),
		}
	}
	renewed := now + rapid.SampledFrom(append(around(0, 0, -s.Quarantine, -s.MaxWindow-2*s.Skew, -short),
		-s.MaxWindow, -s.Quarantine-longer(s), s.MaxWindow)).Draw(d, "renewed")
	if rapid.IntRange(0, 5).Draw(d, "reseeded") == 0 {
		renewed = -1
	}
	return Row{
		Owner: owner(rapid.IntRange(1, 2).Draw(d, "owner")), Term: rapid.Int64Range(1, 2).Draw(d, "term"),
		Mark:     max(0, now+rapid.SampledFrom(edges(s)).Draw(d, "mark")),
		Renewed:  renewed,
		Node:     rapid.SampledFrom(nodes).Draw(d, "node"),
		Released: rapid.IntRange(0, 2).Draw(d, "released") == 0, Retired: rapid.IntRange(0, 5).Draw(d, "retired") == 0,
	}
}

func (r *room) anyNamespace(t *rapid.T) string {
	if seldom(t, "another namespace") {
		return owner(99)
	}
	return r.settings.Namespace
}

func (r *room) anyWindow(t *rapid.T) int64 {
	w := r.settings.MaxWindow
	return rapid.SampledFrom([]int64{max(1, w/6), w, 10 * w}).Draw(t, "window")
}

func (r *room) anyAcquire(t *rapid.T) Acquire {
	w, s := r.settings.MaxWindow, r.settings.Skew
	a := Acquire{
		Namespace: r.anyNamespace(t), Owner: owner(3), Node: rapid.SampledFrom(append(nodes, "c")).Draw(t, "node"),
		Window: r.anyWindow(t), Highest: 65535,
		Longest: rapid.SampledFrom([]int64{max(1, w/6), w, w + 1, w + 3*s, 2*w + w/2}).Draw(t, "longest"),
	}
	if rapid.Bool().Draw(t, "datacenter") {
		a.Lowest = rapid.IntRange(0, 7).Draw(t, "lowest")
		a.Highest = rapid.IntRange(a.Lowest, 8).Draw(t, "highest")
	}
	return a
}

// anyRenew mostly fits the row.
func (r *room) anyRenew(t *rapid.T, table *Table) Renew {
	worker := rapid.IntRange(0, 7).Draw(t, "worker")
	w := table.Rows[worker]
	n := Renew{
		Namespace: r.anyNamespace(t), Worker: worker, Owner: w.Owner, Term: w.Term,
		Acknowledged: max(0, w.Mark+rapid.SampledFrom([]int64{0, 0, -1, 1, -5000}).Draw(t, "acknowledged")),
		Wanted:       table.Now + rapid.SampledFrom(edges(r.settings)).Draw(t, "wanted"),
		Window:       r.anyWindow(t),
	}
	if n.Owner == "" || rapid.IntRange(0, 7).Draw(t, "another owner") == 0 {
		n.Owner = owner(rapid.IntRange(1, 3).Draw(t, "owner"))
	}
	if rapid.IntRange(0, 7).Draw(t, "another term") == 0 {
		n.Term = rapid.Int64Range(0, 3).Draw(t, "term")
	}
	return n
}

package admin

import (
	"fmt"
	"slices"
	"strings"
)

// mapCells is how many cells the map of workers has at most. Above that a cell is a block of workers.
const mapCells = 1024

// mostListed is how many workers the list below the map names. The map has them all.
const mostListed = 200

// kind is a state that a worker can be in.
type kind struct{ Name, Letter, Means string }

// kinds are those states, in the order in which they win the letter of a block.
var kinds = [...]kind{
	{"mine", "M", "this proxy uses it"},
	{"held", "H", "another proxy uses it"},
	{"resting", "R", "free when its mark or the quarantine has passed"},
	{"function", "F", "for the function of a database"},
	{"retired", "X", "never granted again"},
	{"free", "·", "may be taken now"},
}

// kindOf is the place of a name among kinds; -1: it is none.
func kindOf(name string) int {
	for i := range kinds {
		if kinds[i].Name == name {
			return i
		}
	}
	return -1
}

// A cell is one worker of the map, or a block of them.
type cell struct {
	Link   string
	Kind   string // names its colour
	Letter string
	Level  int    // how much of a block is in use, in quarters, rounded up; 0: the cell is one worker
	Label  string // in words
	Stop   bool   // the tabulator stops here
}

// legend is how many workers are of one kind.
type legend struct {
	kind
	Count string
}

// workerMap is all workers of the namespace, or those of one block.
type workerMap struct {
	Workers string // how many there are
	Block   int    // workers of one cell
	Few     bool   // so few cells that they can be large
	Cells   []cell
	Legend  []legend
	Listed  []Worker // those in use, at most mostListed
	Unnamed string   // how many more are in use; empty: none
	Read    string   // how long ago
	Problem string
}

// newWorkerMap shows the workers from first to before end.
func newWorkerMap(s State, first, end int) workerMap {
	lowest, total := s.Namespace.Lowest, s.Namespace.end()
	first, end = max(lowest, min(first, total)), max(lowest, min(end, total))
	m := workerMap{Workers: grouped(end - first), Block: 1, Problem: oneLine(s.Workers.Problem)}
	for (end-first+m.Block-1)/m.Block > mapCells {
		m.Block *= 2
	}
	if !s.Workers.Read.IsZero() {
		m.Read = lasting(s.At.Sub(s.Workers.Read))
	}
	rows := make([]*Worker, end-first)
	for i := range s.Workers.Rows {
		if w := &s.Workers.Rows[i]; w.Number >= first && w.Number < end {
			rows[w.Number-first] = w
		}
	}
	var counts [len(kinds)]int
	for n := first; n < end; n += m.Block {
		m.Cells = append(m.Cells, newCell(s, n, rows[n-first:min(n+m.Block, end)-first], m.Block > 1, &counts))
	}
	m.Few = len(m.Cells) <= 64
	for i, k := range kinds {
		m.Legend = append(m.Legend, legend{k, grouped(counts[i])})
	}
	m.list(s, rows)
	if len(m.Cells) > 0 { // the tabulator stops at this proxy, else at the first; arrow keys lead on from there
		m.Cells[max(0, slices.IndexFunc(m.Cells, func(c cell) bool { return c.Kind == "mine" }))].Stop = true
	}
	return m
}

// newCell shows the workers of rows, of which first is the first, and counts them.
func newCell(s State, first int, rows []*Worker, block bool, counts *[len(kinds)]int) cell {
	var here [len(kinds)]int
	for i, w := range rows {
		k := stateOf(s, first+i, w)
		here[k]++
		counts[k]++
	}
	best := slices.IndexFunc(here[:], func(n int) bool { return n > 0 })
	c := cell{Kind: kinds[best].Name, Letter: kinds[best].Letter}
	if !block {
		c.Link = fmt.Sprintf("/worker/%d", first)
		c.Label = fmt.Sprintf("%d %s", first, c.Kind)
		if w := rows[0]; w != nil && w.Node != "" && c.Kind != "free" {
			c.Label += ", " + oneLine(w.Node)
		}
		return c
	}
	c.Link = fmt.Sprintf("/workers?from=%d", first)
	free := here[len(kinds)-1]
	c.Level = (4*(len(rows)-free) + len(rows) - 1) / len(rows)
	var told []string
	for i, n := range here {
		if n > 0 {
			told = append(told, fmt.Sprintf("%d %s", n, kinds[i].Name))
		}
	}
	c.Label = fmt.Sprintf("%d to %d: %s", first, first+len(rows)-1, strings.Join(told, ", "))
	return c
}

// stateOf is which of kinds a worker is; it may have no row. The lease in hand is newer than what was read.
func stateOf(s State, number int, w *Worker) int {
	if s.Lease.Held && number == s.Lease.Worker {
		return kindOf("mine")
	}
	if w != nil {
		if k := kindOf(w.State); k >= 0 {
			return k
		}
	}
	if number < s.Namespace.Lowest+s.Namespace.Functions {
		return kindOf("function")
	}
	return kindOf("free")
}

// list names the workers in use, mine first.
func (m *workerMap) list(s State, rows []*Worker) {
	var used [len(kinds) - 1][]*Worker // by kind, without the free ones
	all := 0
	for _, w := range rows {
		if w == nil {
			continue
		}
		if k := stateOf(s, w.Number, w); k < len(used) {
			used[k] = append(used[k], w)
			all++
		}
	}
	for k, workers := range used {
		for _, w := range workers[:min(len(workers), mostListed-len(m.Listed))] {
			shown := *w
			shown.State = kinds[k].Name
			m.Listed = append(m.Listed, shown)
		}
	}
	if more := all - len(m.Listed); more > 0 {
		m.Unnamed = grouped(more)
	}
}

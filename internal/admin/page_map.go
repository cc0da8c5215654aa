package admin

import (
	"fmt"
	"slices"
	"strings"

	"pgflurry/internal/report"
)

// mapCells limits the cells of the worker map. With more workers, a cell is a block of them.
const mapCells = 1024

// mostListed limits the workers in the list below the map. The map has all of them.
const mostListed = 200

// kind is a state of a worker.
type kind struct{ Name, Letter, Means string }

// kinds are these states, those in use first.
var kinds = [...]kind{
	{"mine", "M", "this proxy uses it"},
	{"held", "H", "another proxy uses it"},
	{"resting", "R", "free when its reservation or the quarantine has passed"},
	{"function", "F", "for the function of a database"},
	{"retired", "X", "never granted again"},
	{"foreign", "O", "a generator of another kind gives IDs with it"},
	{"free", "·", "may be taken now"},
	{"unknown", "?", "the worker table was not read yet"},
}

// used is how many of the first kinds are in use.
const used = 5

// kindOf is the index of a name in kinds; -1: not found.
func kindOf(name string) int {
	return slices.IndexFunc(kinds[:], func(k kind) bool { return k.Name == name })
}

// A cell is one worker of the map, or a block of them.
type cell struct {
	Link   string
	Kind   string // decides the colour
	Letter string // empty: a block that is partly in use, by others
	Level  int    // eighths of a block that are in use, rounded up; 0: the cell is one worker, or none is in use
	Label  string // in words
	Stop   bool   // the Tab key stops here
}

// legend is the number of workers of one kind.
type legend struct {
	kind
	Count string
}

// workerMap shows all workers of the namespace, or those of one block.
type workerMap struct {
	Block   int // workers in a cell
	Cells   []cell
	Legend  []legend
	Listed  []report.Worker // those in use, up to mostListed
	Unnamed string          // how many more are in use; empty: none
	Read    string          // how long ago
	Problem string
}

// newWorkerMap shows the workers from first up to, but not including, end.
func newWorkerMap(s report.State, first, end int) workerMap {
	lowest, total := s.Namespace.Lowest, s.Namespace.Past()
	first, end = max(lowest, min(first, total)), max(lowest, min(end, total))
	m := workerMap{Block: 1, Problem: oneLine(s.Workers.Problem)}
	for (end-first+m.Block-1)/m.Block > mapCells {
		m.Block *= 2
	}
	if !s.Workers.Read.IsZero() {
		m.Read = lasting(s.At.Sub(s.Workers.Read))
	}
	rows := make([]*report.Worker, end-first)
	for i := range s.Workers.Rows {
		if w := &s.Workers.Rows[i]; w.Number >= first && w.Number < end {
			rows[w.Number-first] = w
		}
	}
	var counts [len(kinds)]int
	for n := first; n < end; n += m.Block {
		m.Cells = append(m.Cells, newCell(s, n, rows[n-first:min(n+m.Block, end)-first], m.Block > 1, &counts))
	}
	for i, k := range kinds {
		if counts[i] > 0 {
			m.Legend = append(m.Legend, legend{k, grouped(counts[i])})
		}
	}
	m.list(s, rows)
	if len(m.Cells) > 0 { // Tab stops at this proxy, or else at the first; arrow keys go on from there
		m.Cells[max(0, slices.IndexFunc(m.Cells, func(c cell) bool { return c.Kind == "mine" }))].Stop = true
	}
	return m
}

// newCell makes the cell of these rows, and counts their workers. first is the number of the first worker.
func newCell(s report.State, first int, rows []*report.Worker, block bool, counts *[len(kinds)]int) cell {
	var here [len(kinds)]int
	for i, w := range rows {
		k := stateOf(s, first+i, w)
		here[k]++
		counts[k]++
	}
	busy := 0
	for _, n := range here[:used] {
		busy += n
	}
	most := func(counts []int) int { return slices.Index(counts, slices.Max(counts)) }
	best := most(here[:used])
	switch {
	case here[0] > 0: // this proxy is shown above all
		best = 0
	case busy == 0:
		best = used + most(here[used:])
	}
	c := cell{Kind: kinds[best].Name}
	if !block || best == 0 || busy == 0 {
		c.Letter = kinds[best].Letter
	}
	if !block {
		c.Link = fmt.Sprintf("/worker/%d", first)
		c.Label = fmt.Sprintf("%d %s", first, c.Kind)
		if w := rows[0]; w != nil && w.Node != "" && c.Kind != "free" {
			c.Label += ", " + oneLine(w.Node)
		}
		return c
	}
	c.Link = fmt.Sprintf("/workers?from=%d", first)
	c.Level = (8*busy + len(rows) - 1) / len(rows)
	var parts []string
	for i, n := range here {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kinds[i].Name))
		}
	}
	c.Label = fmt.Sprintf("%d to %d: %s", first, first+len(rows)-1, strings.Join(parts, ", "))
	return c
}

// stateOf is the index in kinds of a worker, which may have no row. The present lease is newer than the row.
func stateOf(s report.State, number int, w *report.Worker) int {
	if s.Lease.Held && number == s.Lease.Worker {
		return kindOf("mine")
	}
	if w != nil {
		if k := kindOf(w.State); k >= 0 {
			return k
		}
	}
	if s.Namespace.Functions.Has(number) {
		return kindOf("function")
	}
	if s.Workers.Read.IsZero() {
		return kindOf("unknown")
	}
	return kindOf("free")
}

// list names the workers in use, this node's first.
func (m *workerMap) list(s report.State, rows []*report.Worker) {
	var busy [used][]*report.Worker // by kind
	all := 0
	for _, w := range rows {
		if w == nil {
			continue
		}
		if k := stateOf(s, w.Number, w); k < used {
			busy[k] = append(busy[k], w)
			all++
		}
	}
	for k, workers := range busy {
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

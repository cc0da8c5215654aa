package simulation

import (
	"slices"
	"time"

	"pgflurry/tests/support/rows"
)

// Servers start, take each other's place, and are closed.

// server is a primary that is no primary any more.
type server struct {
	table   rows.Table
	commits []commit
	durable int
	offset  time.Duration
}

// left returns the present primary.
func (h *history) left() server {
	return server{table: h.table.Clone(), commits: slices.Clone(h.commits), durable: h.durable, offset: h.offset}
}

// starts lets the server start now.
func (h *history) starts() { h.table.Started, h.table.Born = h.table.Now, false }

// restart is a crash of the server. All commits are there afterwards.
func (h *history) restart() {
	h.cut()
	h.pass([]time.Duration{0, time.Second, 3 * time.Second, 10 * time.Second}[h.choose("down for", 0, 3)])
	h.starts()
	h.note(moment{what: restarts})
}

// failover makes a standby the primary. The standby lacks the last commits. If it is synchronous, none of those was
// acknowledged. It is promoted, on a new timeline, or only started without being told that it is a standby.
func (h *history) failover() {
	if !h.failovers {
		return
	}
	h.failed++
	h.cut()
	least := 1
	if !h.acked {
		least = h.durable
	} else {
		h.olds = append(h.olds, h.left())
	}
	if h.modelled { // there are two servers: the other one is the last primary, or follows this one
		least, h.olds = max(least, h.since), h.olds[max(0, len(h.olds)-1):]
	}
	h.forget(max(least, len(h.commits)-h.choose("commits lost", 0, 12)))
	h.since = len(h.commits)
	h.otherClock()
	h.table.Started, h.table.Born = 0, false // the standby has run for long
	m := moment{what: promotes, commit: h.commits[len(h.commits)-1].number}
	if h.acked && h.choose("without a new timeline", 0, 3) == 1 {
		m.what = startsAlone
		h.starts()
	} else {
		h.newTimeline()
	}
	h.table.Timeline = h.commits[len(h.commits)-1].table.Timeline
	h.note(m)
}

// otherClock sets the clock of another server.
func (h *history) otherClock() {
	if !h.steps {
		h.offset = time.Duration(h.choose("clock of the new server", 0, h.world.offset)) * time.Millisecond
	}
	h.tick()
}

// failback starts a former primary as it was. It has forgotten all that happened since.
func (h *history) failback() {
	if len(h.olds) == 0 {
		return
	}
	h.failed++
	h.cut()
	i := h.choose("former primary", 0, len(h.olds)-1)
	old := h.olds[i]
	h.olds = append(slices.Delete(h.olds, i, i+1), h.left())
	same := 0
	for same < min(len(h.commits), len(old.commits)) && h.commits[same].number == old.commits[same].number {
		same++
	}
	for _, c := range h.commits[same:] {
		h.lost[c.owner] = true
		h.forgot++
	}
	h.table, h.commits, h.durable, h.since = &old.table, old.commits, old.durable, len(old.commits)
	if !h.steps {
		h.offset = old.offset
	}
	h.tick()
	h.starts()
	h.note(moment{what: failsBack})
}

// close closes the database for good.
func (h *history) close() {
	if !h.table.Closed {
		h.table.Closed = true
		h.decided()
	}
}

// open takes the closing back. Or a copy that was made since takes the place of the database, on another server.
func (h *history) open() {
	t := h.table
	if !t.Closed {
		return
	}
	if h.choose("moved", 0, 1) == 1 {
		h.cut()
		h.olds = nil
		t.Oids += " and there"
		h.newTimeline()
		h.otherClock()
		t.Timeline, t.Started, t.Born = t.Server, 0, false
	}
	t.Closed = false
	t.AcquireAfter = max(t.AcquireAfter, t.Now+t.Quarantine)
	h.decided()
}

// decided commits an operator's decision on what the database is.
func (h *history) decided() {
	h.table.Generation++
	h.commit("operator")
	h.durable = len(h.commits)
}

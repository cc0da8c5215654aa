package simulation

import (
	"fmt"
	"os"
	"time"

	"pgflurry/tests/support/rows"
)

// fate moves a write, or the answer to it, on by one stage.
func (h *history) fate(p *process, w *write) {
	if w.applied {
		if h.choose("answer", 0, 4) == 0 {
			p.goOn(reply{err: errCut})
		} else {
			h.answer(p, w)
		}
		return
	}
	switch h.choose("fate", 0, 19) {
	default: // applied and acknowledged
		h.apply(w, true)
		h.answer(p, w)
	case 11: // applied, and the answer is under way
		h.apply(w, true)
	case 12: // applied, and the answer is lost
		h.apply(w, h.choose("replicated", 0, 1) == 1)
		p.goOn(reply{err: errCut})
	case 13: // the request is lost
		p.goOn(reply{err: errCut})
	case 14: // the process gives up, but the write will arrive
		w.late = true
		h.inFlight = append(h.inFlight, w)
		p.goOn(reply{err: os.ErrDeadlineExceeded})
	case 15: // only on this server: somebody cancelled the wait for the standby
		h.apply(w, false)
		p.goOn(reply{bytes: acknowledged(w.clean, cancelledWait, "COMMIT")})
	case 16: // rolled back without an error
		before := *h.table
		c := h.table.Clone()
		h.table = &c
		a := h.execute(w)
		h.table = &before
		p.goOn(reply{bytes: acknowledged(a, nil, "ROLLBACK")})
	case 17:
		p.goOn(reply{bytes: failed("55P03", "canceling statement due to lock timeout")})
	case 18:
		p.goOn(reply{bytes: failed("25006", "cannot execute UPDATE in a read-only transaction")})
	case 19: // it takes longer
	}
	if !w.applied || w.bytes == nil {
		h.unknowns++
	}
}

// execute runs the statement on the table.
func (h *history) execute(w *write) rows.Answer {
	switch {
	case w.acquire != nil:
		return h.table.Acquire(*w.acquire, func(workers []int) int {
			return workers[h.choose("row", 0, len(workers)-1)]
		})
	case w.renew != nil:
		return h.renew(*w.renew)
	default:
		return h.table.Release(*w.release)
	}
}

// renew checks invariant 5 at every renewal.
func (h *history) renew(n rows.Renew) rows.Answer {
	t := h.table
	before := t.Rows[n.Worker]
	a := t.Renew(n)
	after := t.Rows[n.Worker].Mark - t.Now
	if without, last := before.Mark-t.Now, before.Mark-before.Renewed; a[3] != nil &&
		after > max(t.MaxWindow+t.Skew, without, last) {
		h.broken("invariant 5: worker %d is reserved %d ticks ahead, without this renewal %d, after the last one %d",
			n.Worker, after, without, last)
	}
	return a
}

// apply commits a write. If replicated is true, the synchronous standby has it, and all commits before it.
func (h *history) apply(w *write, replicated bool) {
	closed := h.table.Closed
	w.clean = h.execute(w)
	if closed && (w.acquire != nil && w.clean[4] != nil || w.renew != nil && w.clean[3] != nil) {
		h.broken("invariant 8: a closed database granted %v", w.clean)
	}
	w.applied = true
	w.bytes = acknowledged(w.clean, nil, "COMMIT")
	h.commit(w.owner)
	h.note(moment{what: writes, life: w.life, write: w, commit: h.written})
	if replicated {
		h.durable = len(h.commits)
	}
}

// answer delivers the clean acknowledgement of a write.
func (h *history) answer(p *process, w *write) {
	h.granted(p, w)
	w.heard = true
	p.goOn(reply{bytes: w.bytes})
	if w.renew != nil && w.clean[10].(bool) {
		p.revoked = true
	}
}

// setClock sets the database's clock.
func (h *history) setClock() {
	if h.steps {
		h.offset += []time.Duration{
			-time.Minute, -5 * time.Second, -time.Second, time.Second, 5 * time.Second, time.Minute,
		}[h.choose("clock step", 0, 5)]
		h.tick()
	}
}

// cut ends every connection. A write that has not been applied yet never will be.
func (h *history) cut() {
	h.inFlight = nil
	for _, p := range h.processes {
		if p.now.write != nil && !p.now.write.applied && !p.paused {
			p.goOn(reply{err: errCut})
		} else if p.now.write != nil && !p.now.write.applied {
			p.now.write = &write{
				applied: true, bytes: failed("57P01", "terminating connection due to administrator command"),
			}
		}
	}
}

// forget sets the table back to the state after keep commits.
func (h *history) forget(keep int) {
	for _, c := range h.commits[keep:] {
		h.lost[c.owner] = true
		h.forgot++
	}
	h.commits = h.commits[:keep]
	h.durable = min(h.durable, keep)
	left := h.commits[keep-1].table.Clone()
	left.Server, left.Now = h.table.Server, h.table.Now
	left.Started, left.Born = h.table.Started, false
	h.table = &left
}

// restore puts an old state back as operators must do it: stop the proxies, restore, reseed, start.
func (h *history) restore() {
	if !h.restores || h.choose("really", 0, 1) > 0 {
		return
	}
	for i, p := range h.processes {
		p.kill()
		h.processes[i] = nil
	}
	h.inFlight = nil
	h.forget(h.choose("commits kept", 1, len(h.commits)))
	if h.choose("another timeline", 0, 1) == 1 { // a disk snapshot keeps its timeline
		h.newTimeline()
	}
	h.starts()
	h.reseed()
	for i := range h.processes {
		h.processes[i] = h.start(fmt.Sprint("node ", i))
	}
}

// operate is an operator's change to the worker table.
func (h *history) operate() {
	switch h.choose("by hand", 0, 9) {
	case 0:
		h.table.Retire(h.choose("retired", 1, len(h.table.Rows)-1), true)
		h.commit("operator")
		h.durable = len(h.commits)
	case 1, 2:
		h.reseed()
	case 3, 4, 5:
		h.changeWindows()
	}
}

// Shorter windows than the proxies ask for, and the least quarantine that the namespace's CHECK allows.
const (
	shorterWindow     = 2000
	shorterQuarantine = shorterWindow + 2*skew
)

// changeWindows is one step of "namespace set --max-window". A later step continues it, or nothing does.
func (h *history) changeWindows() {
	t := h.table
	switch longer := h.choose("longer windows", 0, 1) == 1; {
	case longer && t.Quarantine < quarantine:
		t.SetQuarantine(quarantine)
	case longer:
		t.MaxWindow = window.Milliseconds()
	case t.MaxWindow > shorterWindow:
		t.MaxWindow = shorterWindow
	case t.Quarantine > shorterQuarantine && !t.LongGrants():
		t.SetQuarantine(shorterQuarantine)
	}
	h.commit("operator")
	h.durable = len(h.commits)
}

func (h *history) reseed() {
	h.table.Reseed(func() string { h.lives++; return fmt.Sprint("reseeded ", h.lives) })
	h.commit("operator")
	h.durable = len(h.commits)
}

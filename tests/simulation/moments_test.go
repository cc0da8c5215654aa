package simulation

import (
	"fmt"

	"pgflurry/tests/support/rows"
)

// moment is a step of a history that tests/model/lease.pml has as well, and the rows after it.
type moment struct {
	what   what
	life   int    // of the process
	write  *write // applied; its answer may arrive later
	commit int    // number of the commit that it made, or of the last one that the new primary has
	tick   int64  // of the ID

	real, clock    int64 // ticks; the second is the database's
	row            rows.Row
	opens          int64
	noted, history string // timelines
}

type what int

const (
	writes what = iota
	seals
	draws
	restarts
	promotes
	startsAlone
	failsBack
)

// note records a moment for a replay.
func (h *history) note(m moment) {
	if !h.modelled {
		return
	}
	m.real, m.clock = h.real.Milliseconds(), h.table.Now
	m.row, m.opens, m.noted, m.history = h.table.Rows[1], h.table.AcquireAfter, h.table.Timeline, h.table.Server
	h.moments = append(h.moments, m)
}

func (m moment) String() string {
	at := fmt.Sprintf("%d.%03d s: ", m.clock/1000, m.clock%1000)
	switch m.what {
	case writes:
		return at + m.write.String() + fmt.Sprintf(": mark %d, term %d", m.row.Mark, m.row.Term)
	case draws:
		return at + fmt.Sprintf("process %d draws an ID of tick %d", m.life, m.tick)
	case seals:
		return at + fmt.Sprintf("process %d is sealed", m.life)
	case restarts:
		return at + "the server restarts"
	case promotes:
		return at + fmt.Sprintf("failover: the standby has the commits up to number %d", m.commit)
	case startsAlone:
		return at + fmt.Sprintf("a standby starts as a primary, with the commits up to number %d", m.commit)
	default:
		return at + "the former primary starts as it was"
	}
}

func (w *write) String() string {
	s := fmt.Sprintf("process %d ", w.life)
	switch {
	case w.acquire != nil && w.clean[4] == nil:
		s += "is refused a worker"
	case w.acquire != nil:
		s += "takes the worker"
	case w.renew != nil && w.clean[3] == nil:
		s += fmt.Sprintf("has lost what it renews (term %d, acknowledged mark %d)", w.renew.Term, w.renew.Acknowledged)
	case w.renew != nil:
		s += fmt.Sprintf("renews (acknowledged mark %d)", w.renew.Acknowledged)
	default:
		s += fmt.Sprintf("releases (term %d, acknowledged mark %d)", w.release.Term, w.release.Acknowledged)
	}
	switch {
	case w.late:
		s += ", after it has given that up"
	case !w.heard:
		s += "; the answer is lost"
	}
	return s
}

package primary

import (
	"fmt"
	"strings"
)

// word is the last answer of a host.
type word uint8

const (
	unasked word = iota
	silent       // it did not answer
	standby
	primary // it says that it is the primary; other hosts may say the same
	foreign // it is of another cluster
)

// candidate is one host and its last answers.
type candidate struct {
	name     string
	word     word
	cause    string // why it was silent
	timeline int64  // its last one as a primary; numbered here if the server shows none
	given    bool   // timeline was numbered here, and it was no standby since
	followed bool   // its last answer was "standby", even if it was silent after that
	system   int64
}

// chosen says which host is the primary, on which timeline.
type chosen struct {
	host     int
	timeline int64
}

// A change is the effect of an answer. If both are set, one primary follows another.
type change struct {
	ended *chosen
	why   string // why it has ended
	begun *chosen
}

// topology decides which host is the primary, from what the hosts say. It has no clock and does no I/O.
type topology struct {
	hosts   []candidate
	now     *chosen // nil: there is no primary
	highest int64   // highest timeline of a primary of this cluster
	system  int64   // of this cluster; 0: not known
	settled bool    // a primary may be chosen
}

func newTopology(servers []Server) *topology {
	t := &topology{hosts: make([]candidate, len(servers))}
	for i, server := range servers {
		t.hosts[i].name = server.Name
	}
	return t
}

// answers takes the answer of a host.
func (t *topology) answers(i int, a Answer) change {
	h := &t.hosts[i]
	h.system, h.cause = a.System, ""
	if t.system == 0 && t.settled {
		t.system = a.System
	}
	switch {
	case t.isForeign(h):
		h.word, h.given, h.followed = foreign, false, false
	case a.Standby:
		h.word, h.given, h.followed = standby, false, true
	default:
		h.timeline, h.given = t.timelineOf(h, a), a.Timeline == 0
		h.word, h.followed = primary, false
	}
	return t.decide()
}

// isSilent records a question without an answer. The primary stays.
func (t *topology) isSilent(i int, cause string) change {
	t.hosts[i].word, t.hosts[i].cause = silent, cause
	return t.decide()
}

// settle lets a primary be chosen even if some hosts have not answered yet.
func (t *topology) settle() change {
	t.settleNow()
	return t.decide()
}

func (t *topology) settleNow() {
	if t.settled {
		return
	}
	t.settled = true
	for i := range t.hosts {
		switch h := &t.hosts[i]; {
		case t.system == 0:
			t.system = h.system
		case t.isForeign(h):
			h.word, h.given = foreign, false
		}
	}
}

func (t *topology) isForeign(h *candidate) bool {
	return t.system != 0 && h.system != 0 && h.system != t.system
}

// timelineOf returns the timeline of a primary. If the server shows none, it is numbered by the order in which
// primaries appear. A host that was a standby before comes after all others. So does a host that appears while the
// present primary is silent. A host that was the primary already, and was only silent since, keeps its number.
func (t *topology) timelineOf(h *candidate, a Answer) int64 {
	switch {
	case a.Timeline != 0:
		return a.Timeline
	case h.given:
		return h.timeline
	case h.followed, t.now != nil && t.hosts[t.now.host].word == silent:
		return t.highest + 1
	}
	return max(t.highest, 1)
}

// decide ends the time of a primary that is over, and chooses the next one if there is a host for it.
func (t *topology) decide() (c change) {
	if !t.settled && !t.anyUnasked() {
		t.settleNow()
	}
	if !t.settled {
		return change{}
	}
	best := t.best()
	if t.now != nil {
		if c.why = t.over(best); c.why != "" {
			c.ended, t.now = t.now, nil
		}
	}
	if best >= 0 {
		t.highest = max(t.highest, t.hosts[best].timeline)
	}
	if t.now == nil && best >= 0 && t.hosts[best].timeline == t.highest {
		t.now = &chosen{best, t.hosts[best].timeline}
		c.begun = t.now
	}
	return c
}

func (t *topology) anyUnasked() bool {
	for i := range t.hosts {
		if t.hosts[i].word == unasked {
			return true
		}
	}
	return false
}

// best returns the primary on the highest timeline; the first one, if several share it; -1 if no host says that it is
// one.
func (t *topology) best() int {
	best := -1
	for i := range t.hosts {
		if h := &t.hosts[i]; h.word == primary && (best < 0 || h.timeline > t.hosts[best].timeline) {
			best = i
		}
	}
	return best
}

// over returns why the host is not the primary any more; empty: it is.
func (t *topology) over(best int) string {
	h := &t.hosts[t.now.host]
	switch {
	case best >= 0 && t.hosts[best].timeline > t.now.timeline:
		return fmt.Sprintf("%s is the primary on timeline %d", t.hosts[best].name, t.hosts[best].timeline)
	case h.word == standby:
		return h.name + " is a standby now"
	case h.word == foreign:
		return h.name + " is of another cluster now"
	case h.word == primary && h.timeline < t.now.timeline:
		return fmt.Sprintf("%s says timeline %d now, and it said %d", h.name, h.timeline, t.now.timeline)
	}
	return ""
}

// says returns the last answer of a host, in words.
func (t *topology) says(i int) string {
	switch h := &t.hosts[i]; h.word {
	case unasked:
		return "not asked yet"
	case silent:
		return "no answer: " + h.cause
	case standby:
		return "standby"
	case foreign:
		return fmt.Sprintf("system identifier %d, another cluster than %d", h.system, t.system)
	default:
		return fmt.Sprintf("primary, timeline %d", h.timeline)
	}
}

// trouble returns what is wrong with the answer of a host, and what to do; empty: nothing.
func (t *topology) trouble(i int) (what, advice string) {
	h := &t.hosts[i]
	switch {
	case h.word == foreign:
		return "an upstream host is of another cluster, and gets no connection",
			"Take it off --upstream. If it has replaced the cluster, restart the proxy."
	case h.word == silent:
		return "an upstream host does not say whether it is the primary", ""
	case h.word != primary:
		return "", ""
	case t.now != nil && t.now.host != i && t.now.timeline == h.timeline:
		return "two upstream hosts say that they are the primary on one timeline; connections go on to " +
				t.hosts[t.now.host].name,
			"Are these two names of one server? If not, one is a copy that was started as a primary: stop it."
	case h.timeline < t.highest:
		return "an upstream host says that it is the primary, on a timeline that is over; it gets no connection",
			"Stop it, and bring it back as a standby (pg_rewind). If it was set back on purpose, restart the proxy."
	}
	return "", ""
}

// all returns the last answer of each host.
func (t *topology) all() string {
	texts := make([]string, len(t.hosts))
	for i, h := range t.hosts {
		texts[i] = h.name + ": " + t.says(i)
	}
	return strings.Join(texts, "; ")
}

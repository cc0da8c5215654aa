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
	reigning // it says that it is the primary; other hosts may say the same
	foreign  // it is of another cluster
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

// reign says which host reigns on which timeline.
type reign struct {
	host     int
	timeline int64
}

// A change is the effect of an answer. If both are set, one reign follows the other.
type change struct {
	ended *reign
	why   string // why it has ended
	begun *reign
}

// succession decides which host reigns, from what the hosts say. It has no clock and does no I/O.
type succession struct {
	hosts   []candidate
	now     *reign // nil: nobody reigns
	highest int64  // highest timeline of a primary of this cluster
	system  int64  // of this cluster; 0: not known
	settled bool   // a reign may begin
}

func newSuccession(servers []Server) *succession {
	s := &succession{hosts: make([]candidate, len(servers))}
	for i, server := range servers {
		s.hosts[i].name = server.Name
	}
	return s
}

// answers takes the answer of a host.
func (s *succession) answers(i int, a Answer) change {
	h := &s.hosts[i]
	h.system, h.cause = a.System, ""
	if s.system == 0 && s.settled {
		s.system = a.System
	}
	switch {
	case s.isForeign(h):
		h.word, h.given, h.followed = foreign, false, false
	case a.Standby:
		h.word, h.given, h.followed = standby, false, true
	default:
		h.timeline, h.given = s.timelineOf(h, a), a.Timeline == 0
		h.word, h.followed = reigning, false
	}
	return s.decide()
}

// isSilent records a question without an answer. It ends no reign.
func (s *succession) isSilent(i int, cause string) change {
	s.hosts[i].word, s.hosts[i].cause = silent, cause
	return s.decide()
}

// settle lets a reign begin even if some hosts have not answered yet.
func (s *succession) settle() change {
	s.settleNow()
	return s.decide()
}

func (s *succession) settleNow() {
	if s.settled {
		return
	}
	s.settled = true
	for i := range s.hosts {
		switch h := &s.hosts[i]; {
		case s.system == 0:
			s.system = h.system
		case s.isForeign(h):
			h.word, h.given = foreign, false
		}
	}
}

func (s *succession) isForeign(h *candidate) bool {
	return s.system != 0 && h.system != 0 && h.system != s.system
}

// timelineOf returns the timeline of a primary. If the server shows none, it is numbered by the order in which
// primaries appear. A host that was a standby before comes after all others. So does a host that appears while the
// present primary is silent. A host that was the primary already, and was only silent since, keeps its number.
func (s *succession) timelineOf(h *candidate, a Answer) int64 {
	switch {
	case a.Timeline != 0:
		return a.Timeline
	case h.given:
		return h.timeline
	case h.followed, s.now != nil && s.hosts[s.now.host].word == silent:
		return s.highest + 1
	}
	return max(s.highest, 1)
}

// decide ends a reign that is over, and begins the next one if there is a host for it.
func (s *succession) decide() (c change) {
	if !s.settled && !s.anyUnasked() {
		s.settleNow()
	}
	if !s.settled {
		return change{}
	}
	best := s.best()
	if s.now != nil {
		if c.why = s.over(best); c.why != "" {
			c.ended, s.now = s.now, nil
		}
	}
	if best >= 0 {
		s.highest = max(s.highest, s.hosts[best].timeline)
	}
	if s.now == nil && best >= 0 && s.hosts[best].timeline == s.highest {
		s.now = &reign{best, s.hosts[best].timeline}
		c.begun = s.now
	}
	return c
}

func (s *succession) anyUnasked() bool {
	for i := range s.hosts {
		if s.hosts[i].word == unasked {
			return true
		}
	}
	return false
}

// best returns the primary on the highest timeline; the first one, if several share it; -1 if no host says that it is
// one.
func (s *succession) best() int {
	best := -1
	for i := range s.hosts {
		if h := &s.hosts[i]; h.word == reigning && (best < 0 || h.timeline > s.hosts[best].timeline) {
			best = i
		}
	}
	return best
}

// over returns why the present reign has ended; empty: it has not.
func (s *succession) over(best int) string {
	h := &s.hosts[s.now.host]
	switch {
	case best >= 0 && s.hosts[best].timeline > s.now.timeline:
		return fmt.Sprintf("%s is the primary on timeline %d", s.hosts[best].name, s.hosts[best].timeline)
	case h.word == standby:
		return h.name + " is a standby now"
	case h.word == foreign:
		return h.name + " is of another cluster now"
	case h.word == reigning && h.timeline < s.now.timeline:
		return fmt.Sprintf("%s says timeline %d now, and it said %d", h.name, h.timeline, s.now.timeline)
	}
	return ""
}

// says returns the last answer of a host, in words.
func (s *succession) says(i int) string {
	switch h := &s.hosts[i]; h.word {
	case unasked:
		return "not asked yet"
	case silent:
		return "no answer: " + h.cause
	case standby:
		return "standby"
	case foreign:
		return fmt.Sprintf("system identifier %d, another cluster than %d", h.system, s.system)
	default:
		return fmt.Sprintf("primary, timeline %d", h.timeline)
	}
}

// trouble returns what is wrong with the answer of a host, and what to do; empty: nothing.
func (s *succession) trouble(i int) (what, advice string) {
	h := &s.hosts[i]
	switch {
	case h.word == foreign:
		return "an upstream host is of another cluster, and gets no connection",
			"Take it off --upstream. If it has replaced the cluster, restart the proxy."
	case h.word == silent:
		return "an upstream host does not say whether it is the primary", ""
	case h.word != reigning:
		return "", ""
	case s.now != nil && s.now.host != i && s.now.timeline == h.timeline:
		return "two upstream hosts say that they are the primary on one timeline; connections go on to " +
				s.hosts[s.now.host].name,
			"Are these two names of one server? If not, one is a copy that was started as a primary: stop it."
	case h.timeline < s.highest:
		return "an upstream host says that it is the primary, on a timeline that is over; it gets no connection",
			"Stop it, and bring it back as a standby (pg_rewind). If it was set back on purpose, restart the proxy."
	}
	return "", ""
}

// all returns the last answer of each host.
func (s *succession) all() string {
	texts := make([]string, len(s.hosts))
	for i, h := range s.hosts {
		texts[i] = h.name + ": " + s.says(i)
	}
	return strings.Join(texts, "; ")
}

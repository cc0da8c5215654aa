package primary

import (
	"fmt"
	"strings"
)

// word is what a host said last.
type word uint8

const (
	unasked word = iota
	silent       // it did not answer
	standby
	reigning // it says that it is the primary; others may say the same
	foreign  // it is of another cluster
)

// candidate is one host, as far as it was heard.
type candidate struct {
	name     string
	word     word
	cause    string // of a silence
	timeline int64  // that it said last as a primary, or that it was given because it tells none
	given    bool   // timeline was given, and it was no standby since
	followed bool   // it was a standby last, whatever silence came behind that
	system   int64
}

// reign is that of a host on a timeline.
type reign struct {
	host     int
	timeline int64
}

// A change is what an answer has come to. Where both are set, one reign follows the other.
type change struct {
	ended *reign
	why   string // it has ended
	begun *reign
}

// succession decides which host reigns. What hosts say goes in, changes come out. It has no clock and does no I/O.
type succession struct {
	hosts   []candidate
	now     *reign // nil: nobody reigns
	highest int64  // timeline of a primary of this cluster
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

// answers is a host's answer.
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

// isSilent is a question without an answer. It ends no reign.
func (s *succession) isSilent(i int, cause string) change {
	s.hosts[i].word, s.hosts[i].cause = silent, cause
	return s.decide()
}

// settle lets a reign begin though some hosts were not heard yet.
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

// timelineOf is that of a primary. One that tells none is given one, by the order in which primaries come: who was a
// standby before is later than all, and so is who comes while the present primary is silent. Who was one already, and
// was only silent since, keeps his.
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

// decide ends a reign that has ended, and begins the next one if there is somebody for it.
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

// best is the primary on the highest timeline, of several the first; -1: nobody says that he is one.
func (s *succession) best() int {
	best := -1
	for i := range s.hosts {
		if h := &s.hosts[i]; h.word == reigning && (best < 0 || h.timeline > s.hosts[best].timeline) {
			best = i
		}
	}
	return best
}

// over says why the present reign has ended; empty: it stands.
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

// says is what a host said last, in words.
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

// trouble is what is wrong with what a host says; empty: nothing.
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

// all is what each host said last.
func (s *succession) all() string {
	texts := make([]string, len(s.hosts))
	for i, h := range s.hosts {
		texts[i] = h.name + ": " + s.says(i)
	}
	return strings.Join(texts, "; ")
}

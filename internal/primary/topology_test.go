package primary

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func servers(n int) []Server {
	all := make([]Server, n)
	for i := range all {
		all[i].Name = fmt.Sprint("db", i+1)
	}
	return all
}

const cluster = 7

func primaryOn(timeline int64) Answer { return Answer{Timeline: timeline, System: cluster} }

var aStandby = Answer{Standby: true, System: cluster}

// told is one event of a topology: an answer of a host, or its silence.
type told struct {
	host   int
	answer *Answer
}

func says(host int, a Answer) told { return told{host, &a} }
func hangs(host int) told          { return told{host: host} }

func (s *topology) hear(h told) change {
	if h.answer == nil {
		return s.isSilent(h.host, "it hangs")
	}
	return s.answers(h.host, *h.answer)
}

func TestWhichHostIsThePrimary(t *testing.T) {
	none := -1
	for name, c := range map[string]struct {
		told     []told
		expected int
	}{
		"nobody before all were heard":           {[]told{says(0, primaryOn(3)), says(1, aStandby)}, none},
		"the primary":                            {[]told{says(0, aStandby), says(1, primaryOn(1)), hangs(2)}, 1},
		"of two that say so, the later timeline": {[]told{says(0, primaryOn(2)), says(1, primaryOn(3)), hangs(2)}, 1},
		"of two on one timeline, the first in the list": {
			[]told{says(1, primaryOn(2)), says(0, primaryOn(2)), hangs(2)}, 0,
		},
		"the primary stays if another comes on its timeline": {
			[]told{hangs(0), says(1, primaryOn(2)), hangs(2), says(0, primaryOn(2))}, 1,
		},
		"a timeline is a number, not a text": {
			[]told{says(0, primaryOn(9)), says(1, primaryOn(16)), hangs(2)}, 1,
		},
		"a primary that hangs":    {[]told{says(0, primaryOn(1)), hangs(1), hangs(2), hangs(0)}, 0},
		"nobody after a demotion": {[]told{says(0, primaryOn(1)), hangs(1), hangs(2), says(0, aStandby)}, none},
		"who is promoted while the other hangs": {
			[]told{says(0, primaryOn(1)), hangs(1), hangs(2), hangs(0), says(1, primaryOn(2))}, 1,
		},
		"not who wakes as a primary of former times": {
			[]told{
				says(0, primaryOn(1)), hangs(1), hangs(2), says(1, primaryOn(2)), hangs(1), says(0, primaryOn(1)),
			}, 1,
		},
		"not even if the later one is a standby by then": {
			[]told{
				says(0, primaryOn(1)), hangs(1), hangs(2), says(1, primaryOn(2)), says(1, aStandby),
				says(0, primaryOn(1)),
			}, none,
		},
		"the same host behind a balancer, on a later timeline": {
			[]told{says(0, primaryOn(1)), hangs(1), hangs(2), says(0, primaryOn(2))}, 0,
		},
		"nobody where a name leads back to a former primary": {
			[]told{says(0, primaryOn(2)), hangs(1), hangs(2), says(0, primaryOn(1))}, none,
		},
		"not a host of another cluster": {
			[]told{says(0, primaryOn(1)), says(1, Answer{Timeline: 9, System: 8}), hangs(2)}, 0,
		},
		"not even if the cluster's own are away": {
			[]told{says(0, primaryOn(1)), says(1, Answer{Timeline: 9, System: 8}), hangs(2), says(0, aStandby)}, none,
		},
		"without timelines, who was a standby before": {
			[]told{says(0, Answer{}), says(1, Answer{Standby: true}), hangs(2), says(1, Answer{})}, 1,
		},
		"without timelines, not who only comes later": {
			[]told{says(0, Answer{}), hangs(1), hangs(2), says(1, Answer{})}, 0,
		},
		"without timelines, who comes while the other hangs": {
			[]told{says(0, Answer{}), hangs(1), hangs(2), hangs(0), says(1, Answer{})}, 1,
		},
		"without timelines, not who wakes while the later one hangs": {
			[]told{
				says(0, Answer{}), hangs(1), hangs(2), hangs(0), says(1, Answer{}), hangs(1), says(0, Answer{}),
			}, 1,
		},
		"without timelines, not who wakes": {
			[]told{says(0, Answer{}), hangs(1), hangs(2), hangs(0), says(1, Answer{}), says(0, Answer{})}, 1,
		},
	} {
		s := newTopology(servers(3))
		for _, h := range c.told {
			s.hear(h)
		}
		got := none
		if s.now != nil {
			got = s.now.host
		}
		if got != c.expected {
			t.Errorf("%s: host %d is the primary, expected %d; %s", name, got, c.expected, s.all())
		}
	}
}

// A history makes hosts hang, wake, be promoted and demoted. It does not know how a topology decides.
type history struct {
	*topology
	primaries []chosen
	last      []*Answer // the last answer of each host; nil: it was silent, or has not answered yet
}

func (h *history) take(t *rapid.T, heard told, before *chosen) {
	c := h.hear(heard)
	h.last[heard.host] = heard.answer
	if (c.ended == nil) != (before == nil || before == h.now) {
		t.Fatalf("the primary was %v and is %v, and the change says %v", before, h.now, c.ended)
	}
	if heard.answer == nil && c.ended != nil {
		t.Fatalf("invariant 3: silence ended %v", c.ended)
	}
	if c.begun == nil {
		return
	}
	if n := len(h.primaries); n > 0 && c.begun.timeline < h.primaries[n-1].timeline {
		t.Fatalf("invariant 2: a primary on timeline %d follows one on %d", c.begun.timeline, h.primaries[n-1].timeline)
	}
	h.primaries = append(h.primaries, *c.begun)
}

func (h *history) check(t *rapid.T) {
	if h.now == nil {
		return
	}
	last := h.last[h.now.host]
	if last != nil && (last.Standby || last.System == cluster+1) {
		t.Fatalf("invariants 1, 4 and 5: %d is the primary, and said %+v", h.now.host, *last)
	}
	for i, a := range h.last {
		if a != nil && !a.Standby && a.System == cluster && a.Timeline > h.now.timeline {
			t.Fatalf("invariant 4: %d is the primary on %d, and %d said %d", h.now.host, h.now.timeline, i, a.Timeline)
		}
	}
}

func histories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const hosts = 4 // the last is of another cluster
		h := &history{topology: newTopology(servers(hosts)), last: make([]*Answer, hosts)}
		h.hear(says(0, aStandby))
		h.last[0] = &aStandby
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			host, before := rapid.IntRange(0, hosts-1).Draw(t, "host"), h.now
			heard := told{host: host}
			switch a := (Answer{System: cluster}); rapid.IntRange(0, 3).Draw(t, "says") {
			case 0:
			case 1:
				a.Standby = true
				heard.answer = &a
			default:
				a.Timeline = rapid.Int64Range(1, 5).Draw(t, "timeline")
				heard.answer = &a
			}
			if heard.answer != nil && host == hosts-1 {
				heard.answer.System = cluster + 1
			}
			h.take(t, heard, before)
			h.check(t)
		}
	})
}

func TestInvariants1To5HoldInAnyHistory(t *testing.T) { histories(t) }

func TestInvariant3SilenceEndsNoPrimaryWhoseverItIs(t *testing.T) {
	s := newTopology(servers(2))
	s.hear(says(0, primaryOn(1)))
	s.hear(says(1, aStandby))
	for _, host := range []int{0, 1, 0} {
		if c := s.hear(hangs(host)); c != (change{}) || s.now == nil {
			t.Errorf("the silence of %d has changed %+v", host, c)
		}
	}
}

func TestTroubleIsReportedInWords(t *testing.T) {
	s := newTopology(servers(4))
	s.hear(says(0, primaryOn(2)))
	s.hear(says(1, primaryOn(2)))
	s.hear(says(2, primaryOn(1)))
	s.hear(says(3, Answer{Standby: true, System: 8}))
	for i, expected := range []string{"", "two upstream hosts", "a timeline that is over", "another cluster"} {
		if what, advice := s.trouble(i); !strings.Contains(what, expected) || (what == "") != (advice == "") {
			t.Errorf("of host %d it says %q and %q; expected %q", i, what, advice, expected)
		}
	}
	if all := s.all(); !strings.Contains(all, "db1: primary, timeline 2; db2:") {
		t.Errorf("all together: %s", all)
	}
}

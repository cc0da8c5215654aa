package simulation

import (
	"testing"
	"time"
)

// Servers that have forgotten, without a new timeline that says so. One is a former primary that is back as it was, one
// a standby that nobody promoted. Only their start tells. The states are those in which the time since it is only just
// long enough.

// alone returns a history with one worker. A failover forgets every commit.
func alone(t *testing.T, choices map[string]int) (*history, *process) {
	choose := func(what string, low, high int) int {
		if c, ok := choices[what]; ok {
			return c
		}
		return low
	}
	h := newHistory(world{failovers: true, acked: true, told: true, offset: skew}, choose, t.Fatalf)
	t.Cleanup(h.end)
	h.jitter = 0
	return h, h.processes[0]
}

// promotion and noPromotion are failovers that lose everything.
var (
	promotion   = map[string]int{"commits lost": 12}
	noPromotion = map[string]int{"commits lost": 12, "without a new timeline": 1}
)

// reserves lets a process get the worker and reserve as far ahead as the cap allows.
func (h *history) reserves(t *testing.T, p *process) (until int64) {
	t.Helper()
	for len(p.tenures) == 0 || p.tenures[0].until-h.table.Now < window.Milliseconds() {
		h.act(p)
	}
	p.rate = 1050 // a fast clock, so that it asks for more than it may have
	h.pass(11 * time.Second)
	p.goOn(reply{})
	h.act(p)
	until = p.tenures[0].until
	if ahead := until - h.table.Now; ahead != window.Milliseconds()+skew {
		t.Fatalf("the holder has reserved %d ticks ahead, expected all that the cap allows, %d",
			ahead, window.Milliseconds()+skew)
	}
	return until
}

func TestAServerThatHasJustStartedGrantsNothingUntilWhateverItMayHaveForgottenHasEnded(t *testing.T) {
	for name, forgotten := range map[string]func(t *testing.T) (*history, *process, int64){
		"a former primary is back as it was": func(t *testing.T) (*history, *process, int64) {
			h, holder := alone(t, map[string]int{"clock of the new server": skew})
			h.failover()
			until := h.reserves(t, holder)
			holder.frozen = true
			h.failback()
			return h, holder, until
		},
		"a standby is started without a new timeline": func(t *testing.T) (*history, *process, int64) {
			h, holder := alone(t, noPromotion)
			h.offset = skew * time.Millisecond
			h.tick()
			until := h.reserves(t, holder)
			holder.frozen = true
			h.failover()
			return h, holder, until
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, holder, until := forgotten(t)
			if h.table.Rows[1].Term != 0 || h.table.Timeline != h.table.Server {
				t.Fatalf("the server knows of the holder, or shows a new timeline: %+v", h.table)
			}
			h.processes = append(h.processes, h.start("comes at once"))
			h.act(h.processes[1]) // must be refused
			h.pass(time.Duration(until-1-h.table.Now) * time.Millisecond)
			h.processes = append(h.processes, h.start("comes too early"))
			h.act(h.processes[2]) // must be refused, too
			h.pass(2 * time.Millisecond)
			if from := h.comes(t, "first after the start"); from != until+1 {
				t.Errorf("the first grant begins at tick %d, the forgotten one ends at %d: expected a tick more, "+
					"which is the tick of the start, or this is no edge", from, until)
			}
			drawn := h.drawn
			if holder.draw(4); h.drawn == drawn {
				t.Error("the holder drew nothing after its sleep, so this proves nothing of it")
			}
		})
	}
}

// The former primary has a later mark than the standby had. So when the holder is back, its row does not show that the
// other server may have granted its worker meanwhile.
func TestAHolderThatWakesAtAFormerPrimaryHasLostWhatTheOtherServerMayHaveGranted(t *testing.T) {
	for name, c := range map[string]struct {
		choices    map[string]int
		quarantine int64
		rest       int64 // how long the other server waits
	}{
		"which was promoted":                   {promotion, quarantine, quarantine},
		"which started without a new timeline": {noPromotion, 2 * quarantine, quarantine + 1},
	} {
		t.Run(name, func(t *testing.T) {
			h, holder := alone(t, c.choices)
			h.table.Quarantine = c.quarantine
			for range h.commits {
				h.commits[0].table.Quarantine = c.quarantine
			}
			for len(holder.tenures) == 0 || holder.tenures[0].until-h.table.Now < window.Milliseconds() {
				h.act(holder)
			}
			until, renewed := holder.tenures[0].until, h.table.Rows[1].Renewed
			h.pass(time.Duration(renewed-h.table.Now) * time.Millisecond)
			h.failover()
			h.processes = append(h.processes, h.start("first to see the new server"))
			h.act(h.processes[1]) // is refused, and closes the gate if the timeline is new
			h.pass(time.Duration(renewed+c.rest-h.table.Now) * time.Millisecond)
			if from := h.comes(t, "takes the worker"); from != renewed+c.rest {
				t.Fatalf("the worker is granted from tick %d, expected %d, or this is no edge", from, renewed+c.rest)
			}
			h.failback()
			for holder.now.write == nil {
				holder.goOn(reply{})
			}
			h.act(holder) // must be refused, or it would hold ticks of the other one
			if holder.tenures[0].until != until {
				t.Errorf("the holder renewed until tick %d", holder.tenures[0].until)
			}
		})
	}
}

// An address that leads to two databases by turns costs a worker in one of them at each turn.
func TestAKeeperThatReachesTwoDatabasesByTurnsTakesAtMostOneWorkerInTheTimeThatAWorkerRests(t *testing.T) {
	h, p := alone(t, map[string]int{"workers": workers})
	h.twice = func(string, *tenure, *tenure) {} // two databases grant the same: what it draws still rises
	other := h.table.Clone()
	other.Oids = "there"
	one, two := server{table: *h.table, commits: h.commits}, server{table: other}
	begin := h.table.Now
	for h.table.Now-begin < 20*quarantine {
		if p.now.write != nil { // the next write goes to the other one
			one, two = two, one
			one.table.Now = h.table.Now
			h.table, h.commits = &one.table, one.commits
		}
		h.act(p)
		one.table, one.commits = *h.table, h.commits
		p.draw(4)
	}
	if most := 1 + int(h.table.Now-begin)/quarantine; h.acquisitions > most || h.acquisitions < most/2 {
		t.Errorf("%d acquisitions in %d ticks, expected between %d and %d",
			h.acquisitions, h.table.Now-begin, most/2, most)
	}
}

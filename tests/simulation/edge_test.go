package simulation

import (
	"testing"
	"time"
)

// At the edge, gate and quarantine are only just long enough. They have the least length that the namespace's CHECK
// allows. The old server's clock was ahead of the new one's by the skew. A holder has reserved as far ahead as the cap
// allows. Random choices hardly ever lead there, so these tests do.

// forgetful returns a history with one worker. Its first failover loses this number of commits, and leads to a server
// whose clock is behind by the skew.
func forgetful(t *testing.T, lost int) (*history, *process) {
	choose := func(what string, low, high int) int {
		if what == "commits lost" {
			return lost
		}
		return low
	}
	h := newHistory(world{failovers: true, acked: true, told: true, offset: skew}, choose, t.Fatalf)
	t.Cleanup(h.end)
	h.offset = skew * time.Millisecond
	h.jitter = 0 // each waiting process wakes exactly on time
	h.tick()
	h.act(h.processes[0])
	return h, h.processes[0]
}

// comes starts a process and lets it take the worker as soon as its keeper tries. It returns the first tick of its
// grant.
func (h *history) comes(t *testing.T, name string) int64 {
	t.Helper()
	p := h.start(name)
	h.processes = append(h.processes, p)
	for range 10 {
		if len(p.tenures) > 0 {
			p.draw(4)
			return p.tenures[0].from
		}
		h.act(p)
	}
	t.Fatal("it got no worker")
	return 0
}

func TestTheGateLastsAsLongAsAnyGrantThatAFailoverForgets(t *testing.T) {
	h, holder := forgetful(t, 12)
	for holder.tenures[0].until-h.table.Now < window.Milliseconds() {
		h.act(holder)
	}
	holder.rate = 1050 // a fast clock, so that it asks for more than it may have
	h.pass(11 * time.Second)
	holder.goOn(reply{})
	h.act(holder)
	until := holder.tenures[0].until
	if ahead := until - h.table.Now; ahead != window.Milliseconds()+skew {
		t.Fatalf("the holder has reserved %d ticks ahead, expected all that the cap allows, %d",
			ahead, window.Milliseconds()+skew)
	}
	holder.frozen = true // its machine falls asleep
	h.failover()
	if h.table.Rows[1].Term != 0 {
		t.Fatalf("the new server knows of the holder: %+v", h.table.Rows[1])
	}
	h.processes = append(h.processes, h.start("first to see the new server"))
	h.act(h.processes[1]) // is refused, and closes the gate
	h.pass(time.Duration(h.table.AcquireAfter-h.table.Now) * time.Millisecond)
	if from := h.comes(t, "first to pass the gate"); from != until {
		t.Errorf("the first grant begins at tick %d, the forgotten one ends at %d: "+
			"expected the same, or this is no edge", from, until)
	}
	drawn := h.drawn
	if holder.draw(4); h.drawn == drawn { // it wakes within the ticks of its grant
		t.Error("the holder drew nothing after its sleep, so this proves nothing of it")
	}
}

func TestAHolderThatWakesAfterATakeOverThatWasForgottenHasLost(t *testing.T) {
	h, holder := forgetful(t, 1)
	mark := holder.tenures[0].until
	from := h.comes(t, "takes it over") // the holder does nothing meanwhile
	if over := mark + quarantine; from < over || from > over+1 {
		t.Fatalf("the worker was taken over at tick %d; its quarantine was over at %d", from, over)
	}
	h.failover() // it loses the take-over
	if h.table.Rows[1].Mark != mark {
		t.Fatalf("the new server has not forgotten the take-over: %+v", h.table.Rows[1])
	}
	holder.goOn(reply{})
	if holder.now.write == nil || holder.now.write.renew == nil {
		t.Fatalf("the holder wakes up and does %+v, expected a renewal", holder.now)
	}
	h.act(holder) // must be refused, or it would hold ticks of its successor
	holder.draw(4)
	if holder.tenures[0].until != mark {
		t.Errorf("the holder renewed until tick %d", holder.tenures[0].until)
	}
}

// A proxy with a window of an hour started when max_window was an hour. So it knows of long grants that the server has
// forgotten.
func TestAFailoverThatForgetsThatWindowsWereRaisedKeepsTheGateClosedForThoseWhoKnow(t *testing.T) {
	h, holder := forgetful(t, 12)
	for holder.tenures[0].until-h.table.Now < window.Milliseconds() {
		h.act(holder)
	}
	holder.rate = 1050
	h.pass(11 * time.Second)
	holder.goOn(reply{})
	h.act(holder)
	until := holder.tenures[0].until
	holder.frozen = true
	h.failover()
	h.table.MaxWindow, h.table.Quarantine = shorterWindow, shorterQuarantine // the failover lost the raise
	h.processes = append(h.processes, h.start("first to see the new server"))
	h.act(h.processes[1]) // is refused, and closes the gate
	if h.table.AcquireAfter >= until {
		t.Fatal("the row's own gate outlasts the grant, so this proves nothing")
	}
	h.pass(time.Duration(h.table.AcquireAfter-h.table.Now) * time.Millisecond)
	if from := h.comes(t, "first to pass the gate"); from < until || from > until+1 {
		t.Errorf("the first grant begins at tick %d, the forgotten one ends at %d: expected that, give or take a tick",
			from, until)
	}
	drawn := h.drawn
	if holder.draw(4); h.drawn == drawn {
		t.Error("the holder drew nothing after its sleep, so this proves nothing of it")
	}
}

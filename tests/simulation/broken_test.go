package simulation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/volume"
)

// Without A1 or A2, and if no other rule makes up for it, IDs can come twice. These tests show when that happens, and
// that there is no other cause.

func TestAFailoverThatLosesAcknowledgedCommitsNeedsASecondFaultForADuplicate(t *testing.T) {
	for name, w := range map[string]world{
		"servers do not tell their timelines": {failovers: true, acked: true, offset: skew},
		"the new server's clock is behind by far more": {
			failovers: true, acked: true, told: true, offset: 10 * quarantine,
		},
		"the database's clock is set back after the failover": {failovers: true, acked: true, told: true, steps: true},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 300
			tried, overlaps, twice, shown := 0, 0, 0, false
			for ; tried < most && !(shown && tried >= volume.Of(60, most)); tried++ {
				overlap, ids := breakA1(t, w, uint64(tried))
				if twice += ids; overlap {
					overlaps++
				}
				shown = overlaps > 0 && (w.offset != skew || twice > 0)
			}
			if !shown {
				t.Error("nothing came twice: either the documented limit is none, or the histories are too tame")
			}
			t.Logf("in %d of %d histories two grants held one tick, and %d IDs came twice; "+
				"behind each was a lost commit", overlaps, tried, twice)
		})
	}
}

// breakA1 runs a history until two grants share a tick. Then all processes draw for a second. It returns the number of
// duplicates. Behind each must be a commit that the database lost.
func breakA1(t *testing.T, w world, seed uint64) (overlap bool, ids int) {
	broken := func(format string, args ...any) { t.Fatalf("history %d: %s", seed+1, fmt.Sprintf(format, args...)) }
	h := newHistory(w, chosen(seed), broken)
	defer h.end()
	h.twice = func(what string, one, other *tenure) {
		overlap = true
		if !h.lost[one.owner] && !h.lost[other.owner] {
			h.broken("%s, and no commit was lost: %+v and %+v", what, *one, *other)
		}
		if strings.HasPrefix(what, "invariant 1") {
			ids++
		}
	}
	for i := 0; !overlap && i < steps; i++ {
		h.step()
	}
	for i := 0; overlap && i < 1000; i++ {
		h.pass(time.Millisecond)
		for _, p := range h.processes {
			p.draw(4)
		}
	}
	return overlap, ids
}

// tame chooses the lowest value each time, which is no fault.
func tame(_ string, low, _ int) int { return low }

// forked returns a second history that continues from the present state, as if somebody had copied the table. It shares
// the set of IDs with h.
func (h *history) forked() *history {
	table := h.table.Clone()
	other := *h
	other.table, other.processes, other.tombs, other.commits = &table, nil, nil, nil
	other.timelines = 100
	other.newTimeline()
	other.commit("")
	return &other
}

func TestInASplitBrainTheGateHoldsForTheQuarantineAndThenIDsComeTwice(t *testing.T) {
	h := newHistory(world{told: true}, tame, t.Fatalf)
	defer h.end()
	h.act(h.processes[0]) // gets worker 1, the only one
	split := h.real
	other := h.forked()
	defer other.end()
	twice := time.Duration(0)
	found := func(string, *tenure, *tenure) {
		if twice == 0 {
			twice = h.real - split
		}
	}
	h.twice, other.twice = found, found
	other.processes = []*process{other.start("elsewhere")}
	for range 200 {
		h.turn()
		other.pass(h.real - other.real)
		other.follow()
	}
	if limit := time.Duration(quarantine) * time.Millisecond; twice < limit {
		t.Errorf("the first duplicate came after %v; expected one, and not before the quarantine of %v was over",
			twice, limit)
	}
}

// turn lets the first process draw and go on; time passes with its waits.
func (h *history) turn() {
	h.processes[0].draw(4)
	h.act(h.processes[0])
}

// follow is turn without a change of the time: a waiting process goes on waiting.
func (h *history) follow() {
	p := h.processes[0]
	p.draw(4)
	if p.now.write != nil {
		h.act(p)
	} else {
		p.goOn(reply{})
	}
}

package bench

import (
	"bytes"
	"strings"
	"testing"
)

// measuredAt is a report of two contenders; the second has that throughput, with quartiles 10 % away.
func measuredAt(speed float64, rounds int) *Report {
	around := func(f float64) Spread { return Spread{Low: f * 0.9, Median: f, High: f * 1.1, N: rounds} }
	return &Report{Kind: KindIDs, Machine: Machine{Processor: "one", CPUs: 2}, Figures: []Figure{
		{Workload: "w", Contender: Nextval, PerSecond: around(1000)},
		{Workload: "w", Contender: "B", PerSecond: around(speed), Ratios: map[string]Spread{Nextval: around(speed / 1000)}, Latency: map[string]Spread{"p50": around(1e6 / speed)}},
	}}
}

func compared(t *testing.T, before, after *Report) (Comparison, string) {
	t.Helper()
	c, err := Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := c.Write(&said, "old.json"); err != nil {
		t.Fatal(err)
	}
	return c, said.String()
}

func TestAChangeIsOneBeyondTheQuartilesOfBothRuns(t *testing.T) {
	if c, said := compared(t, measuredAt(2000, 9), measuredAt(2300, 9)); len(c.Changes) != 0 || c.Looked != 4 || !strings.Contains(said, "0 of 4 figures") {
		t.Errorf("within the noise: %s", said)
	}
	c, said := compared(t, measuredAt(2000, 9), measuredAt(3000, 9))
	if len(c.Changes) != 3 || !c.Changes[0].Better || !c.Changes[2].Better || !strings.Contains(said, "better  w, B: per second  2,000 (1,800 – 2,200) → 3,000 (2,700 – 3,300), +50 %") {
		t.Errorf("faster: %s", said)
	}
	if c, said := compared(t, measuredAt(3000, 9), measuredAt(2000, 9)); len(c.Changes) != 3 || c.Changes[0].Better || strings.Contains(said, "better") {
		t.Errorf("slower: %s", said)
	}
}

func TestRunsOfDifferentMachinesAreComparedByTheirRatiosAlone(t *testing.T) {
	other := measuredAt(3000, 9)
	other.Machine.CPUs = 64
	if c, said := compared(t, measuredAt(2000, 9), other); len(c.Changes) != 1 || c.Changes[0].What != "to nextval" || !strings.Contains(said, "machines differ") {
		t.Errorf("%s", said)
	}
}

func TestWhatHasTooFewRoundsOrIsInOneRunAloneIsNotCompared(t *testing.T) {
	if c, said := compared(t, measuredAt(2000, 9), measuredAt(3000, 2)); c.Looked != 0 || !strings.Contains(said, "fewer than 3 rounds") {
		t.Errorf("two rounds: %s", said)
	}
	before, after := measuredAt(2000, 9), measuredAt(2000, 9)
	before.Figures[1].Contender, after.Figures[1].Contender = "gone", "come"
	if _, said := compared(t, before, after); !strings.Contains(said, "w: gone (only in the older run)") || !strings.Contains(said, "w: come (new)") || strings.Contains(said, "w: nextval") {
		t.Errorf("alone: %s", said)
	}
	before.Kind = KindInserts
	if _, err := Compare(before, after); err == nil {
		t.Error("reports of different kinds are compared")
	}
}

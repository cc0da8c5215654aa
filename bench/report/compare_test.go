package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/trial"
)

// measuredAt is a report of two contenders. The second has that throughput, plus or minus 10 %.
func measuredAt(speed float64, rounds int) *Report {
	r := &Report{Kind: KindIDs, Machine: Machine{Processor: "one", CPUs: 2}, Figures: []Figure{
		{Workload: "w", Contender: Nextval}, {Workload: "w", Contender: "B"},
	}}
	for i := range rounds {
		around := func(f float64, drift int) float64 {
			return f * (0.9 + 0.2*float64(drift%rounds)/float64(max(1, rounds-1)))
		}
		r.Samples = append(r.Samples,
			trial.Sample{Workload: "w", Contender: Nextval, Round: i + 1, Count: trial.Count{
				Operations: int64(around(1000, 2*i)), Elapsed: time.Second,
			}},
			trial.Sample{Workload: "w", Contender: "B", Round: i + 1, Count: trial.Count{
				Operations: int64(around(speed, i)), Elapsed: time.Second,
				Latency: map[string]time.Duration{"p50": time.Duration(around(1e6/speed, i)) * time.Microsecond},
			}})
	}
	return r
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

func TestAChangeIsOneByMoreThanChance(t *testing.T) {
	if c, said := compared(t, measuredAt(2000, 9), measuredAt(2050, 9)); len(c.Changes) != 0 || c.Looked != 4 ||
		!strings.Contains(said, "0 of 4 figures") {
		t.Errorf("within the noise: %s", said)
	}
	for _, rounds := range []int{5, 9} {
		c, said := compared(t, measuredAt(2000, rounds), measuredAt(3000, rounds))
		if len(c.Changes) != 3 || !c.Changes[0].Better || !c.Changes[2].Better ||
			!strings.Contains(said, "better  w, B: per second  2,000 (1,900 – 2,100) → 3,000 (2,850 – 3,150), +50 %") {
			t.Errorf("faster: %s", said)
		}
	}
	if c, said := compared(t, measuredAt(3000, 9), measuredAt(2000, 9)); len(c.Changes) != 3 || c.Changes[0].Better ||
		strings.Contains(said, "better") {
		t.Errorf("slower: %s", said)
	}
}

func TestRunsOfDifferentMachinesAreComparedByTheirRatiosAlone(t *testing.T) {
	other := measuredAt(3000, 9)
	other.Machine.CPUs = 64
	if c, said := compared(t, measuredAt(2000, 9), other); len(c.Changes) != 1 || c.Changes[0].What != "to nextval" ||
		!strings.Contains(said, "machines differ") {
		t.Errorf("%s", said)
	}
}

func TestWhatHasTooFewRoundsOrIsInOneRunAloneIsNotCompared(t *testing.T) {
	if c, said := compared(t, measuredAt(2000, 9), measuredAt(3000, 4)); c.Looked != 0 ||
		!strings.Contains(said, "fewer than 5 rounds") {
		t.Errorf("four rounds: %s", said)
	}
	before, after := measuredAt(2000, 9), measuredAt(2000, 9)
	before.Figures[1].Contender, after.Figures[1].Contender = "gone", "come"
	if _, said := compared(t, before, after); !strings.Contains(said, "w: gone (only in the older run)") ||
		!strings.Contains(said, "w: come (new)") || strings.Contains(said, "w: nextval") {
		t.Errorf("alone: %s", said)
	}
	before.Kind = KindInserts
	if _, err := Compare(before, after); err == nil {
		t.Error("reports of different kinds are compared")
	}
}

func TestWhatTwoRunsWereMadeWithIsShownWhereItDiffers(t *testing.T) {
	before, after := measuredAt(2000, 9), measuredAt(2000, 9)
	before.Versions, after.Versions = map[string]string{"PostgreSQL": "15", "pgbench": "15"},
		map[string]string{"PostgreSQL": "18", "pgbench": "15"}
	before.Settings, after.Settings = map[string]string{"a turn": "2s"},
		map[string]string{"a turn": "5s", "Redis": `save ""`}
	after.Machine.System = "another"
	_, said := compared(t, before, after)
	for _, want := range []string{
		"differs: version of PostgreSQL: 15 → 18\n", "differs: a turn: 2s → 5s\n",
		"differs: Redis: unknown → save \"\"\n", "differs: system: unknown → another\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	if strings.Count(said, "differs") != 4 {
		t.Errorf("%q says of more that it differs", said)
	}
}

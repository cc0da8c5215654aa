package partition

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
)

// Units of the model begin every hundred IDs. IDs begin at 4200, and the current unit at 5000.
const (
	unit     = 100
	firstID  = 4200
	thisUnit = 5000
)

// facts are what a look would have found.
func facts(parts []part, ahead, keep int) Facts {
	f := Facts{
		settings: Settings{Every: "month", Ahead: ahead, Keep: keep}, name: pgx.Identifier{"public", "event"},
		parts: parts, first: firstID, times: make(map[int64]time.Time), taken: make(map[string]bool),
	}
	for k := -keep; k <= ahead+1; k++ {
		at := start{time.Date(2026, time.Month(11+k), 1, 0, 0, 0, 0, time.UTC), thisUnit + int64(k)*unit}
		f.starts = append(f.starts, at)
		f.times[at.id] = at.local
	}
	return f
}

// drawn is any state of the partitions: with holes, bounds anywhere, and perhaps a pending detach.
func drawn(t *rapid.T) (parts []part) {
	at := int64(minValue)
	if rapid.Bool().Draw(t, "begins late") {
		at = rapid.Int64Range(4000, 5200).Draw(t, "beginning")
	}
	pending := rapid.IntRange(-1, 8).Draw(t, "pending")
	for i := range rapid.IntRange(0, 8).Draw(t, "parts") {
		high := max(at, 4000) + rapid.Int64Range(1, 400).Draw(t, "length")
		parts = append(parts, part{
			name: pgx.Identifier{"public", "p"}, kind: "r", low: at, high: high, pending: i == pending,
			marked: rapid.Bool().Draw(t, "marked"),
		})
		at = high + rapid.SampledFrom([]int64{0, 0, 0, 50, 400}).Draw(t, "hole")
	}
	return parts
}

func TestInvariant1APlanLeavesNoIDFromNowOnWithoutAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts, ahead := drawn(t), rapid.IntRange(1, 4).Draw(t, "ahead")
		f := facts(parts, ahead, 0)
		var attached []part
		for _, p := range parts {
			if !p.pending {
				attached = append(attached, p)
			}
		}
		made := missing(parts, f.starts)
		late := missing(with(attached, made), f.starts)
		all := with(attached, append(made, late...))
		covered := int64(thisUnit)
		for i, p := range all {
			if i > 0 && p.low < all[i-1].high {
				t.Fatalf("two partitions share IDs: %+v", all)
			}
			if p.low <= covered {
				covered = max(covered, p.high)
			}
		}
		if end := int64(thisUnit + (ahead+1)*unit); covered < end {
			t.Errorf("IDs from %d have no partition, expected none below %d: %+v", covered, end, all)
		}
		if again := missing(all, f.starts); len(again) != 0 {
			t.Errorf("a second plan makes %+v", again)
		}
		for _, s := range append(made, late...) {
			begins := s.low == minValue
			for _, p := range append(all, parts...) {
				begins = begins || p.high == s.low
			}
			if !begins {
				t.Errorf("%+v does not begin where another ends: %+v", s, all)
			}
		}
	})
}

func TestInvariant3OnlyWhatIsOlderThanKeepAndHoldsNoOldKeysIsDropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts, keep := drawn(t), rapid.IntRange(0, 10).Draw(t, "keep")
		for i := range parts {
			parts[i].name = pgx.Identifier{"public", "p" + string(rune('a'+i))}
		}
		cutoff := int64(thisUnit - keep*unit)
		plan := facts(parts, 1, keep).Plan()
		for _, p := range parts {
			dropped := false
			for _, step := range plan.Steps {
				last := step.Statements[len(step.Statements)-1]
				if strings.HasPrefix(last, "DROP TABLE "+p.name.Sanitize()) {
					dropped = true
					if !step.Drops {
						t.Errorf("a step that drops needs no consent: %+v", step)
					}
				}
			}
			old := keep > 0 && p.high <= cutoff && p.low >= firstID && (!p.pending || p.marked)
			if dropped != old {
				t.Errorf("dropped is %v of %+v, with %d units kept", dropped, p, keep)
			}
		}
	})
}

func TestWhatMakesPartitionsComesBeforeWhatDropsThem(t *testing.T) {
	parts := []part{
		{name: pgx.Identifier{"public", "old"}, kind: "r", low: 4300, high: 4400},
		{name: pgx.Identifier{"public", "now"}, kind: "r", low: 5000, high: 5100},
	}
	dropping := false
	for _, step := range facts(parts, 3, 5).Plan().Steps {
		if dropping && strings.HasPrefix(step.Says, "create") {
			t.Errorf("behind a drop stands %q", step.Says)
		}
		dropping = dropping || step.Drops
	}
	if !dropping {
		t.Error("nothing is dropped")
	}
}

func TestANameFitsIntoPostgreSQLAndIsFree(t *testing.T) {
	for _, test := range []struct {
		table string
		low   int64
		taken string
		want  string
	}{
		{"event", 5000, "", "event_2026_11"},
		{"event", 5000, "event_2026_11", "event_2026_11_2"},
		{"event", minValue, "", "event_until_2026_12"},
		{strings.Repeat("x", 63), 5000, "", strings.Repeat("x", 55) + "_2026_11"},
		{strings.Repeat("é", 31), 5000, "", strings.Repeat("é", 27) + "_2026_11"},
	} {
		f := facts(nil, 1, 0)
		f.name[1], f.taken[test.taken] = test.table, true
		if got := f.nameOf(span{test.low, 5100})[1]; got != test.want || len(got) > 63 {
			t.Errorf("a partition of %s is %s, expected %s", test.table, got, test.want)
		}
	}
}

func TestABoundIsReadAsPostgreSQLPrintsIt(t *testing.T) {
	for text, want := range map[string]span{
		"FOR VALUES FROM (MINVALUE) TO ('5')":             {minValue, 5},
		"FOR VALUES FROM ('-7') TO ('5')":                 {-7, 5},
		"FOR VALUES FROM ('1786706395136') TO (MAXVALUE)": {1786706395136, maxValue},
	} {
		if low, high, err := readBound(text); err != nil || low != want.low || high != want.high {
			t.Errorf("%s is %d to %d, %v", text, low, high, err)
		}
	}
	for _, text := range []string{
		"DEFAULT", "FOR VALUES IN ('1')", "FOR VALUES FROM ('99999999999999999999') TO ('1')",
	} {
		if _, _, err := readBound(text); err == nil {
			t.Errorf("%s is read as a range", text)
		}
	}
}

package namespace

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyRanges draws a set of few workers, and the same as ranges.
func anyRanges(t *rapid.T, name string) (Ranges, map[int]bool) {
	set := map[int]bool{}
	var ranges Ranges
	for i, is := range rapid.SliceOfN(rapid.Bool(), 12, 12).Draw(t, name) {
		if is {
			set[i] = true
			ranges = append(ranges, Range{i, i})
		}
	}
	return ranges.merged(), set
}

func TestRangesAreTheSetsThatTheyStandFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := anyRanges(t, "a")
		b, inB := anyRanges(t, "b")
		n := rapid.IntRange(0, 13).Draw(t, "n")
		without := a.Without(b)
		within := a.In(Range{n, n + 3})
		for i := range 13 {
			if a.Has(i) != inA[i] || without.Has(i) != (inA[i] && !inB[i]) ||
				within.Has(i) != (inA[i] && i >= n && i <= n+3) {
				t.Fatalf("%v without %v is %v, in four from %d %v: wrong at %d", a, b, without, n, within, i)
			}
		}
		if a.Size() != len(inA) {
			t.Fatalf("%v has %d workers", a, a.Size())
		}
		if back, err := ParseRanges(a.List()); err != nil || !slices.Equal(back, a) {
			t.Fatalf("%v is written %s, and read %v, %v", a, a.List(), back, err)
		}
		if len(a) > 0 && (!inA[a.Hull().Lowest] || !inA[a.Hull().Highest]) {
			t.Fatalf("%v is within %v", a, a.Hull())
		}
	})
}

func TestRangesAreReadAsPeopleAndPostgreSQLWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"none": "none", "7": "7", "0-31,991": "0 to 31, 991", "991, 16-31,0-15": "0 to 31, 991",
		"3-5,4-9,1": "1, 3 to 9",
	} {
		got, err := ParseRanges(text)
		if err != nil || got == nil || got.String() != want {
			t.Errorf("%q is %v, %v; expected %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1-", "a", "1,,2", "5-3", "65536", "0-99999999999", "1 2", "{[0,3)}"} {
		if got, err := ParseRanges(text); err == nil {
			t.Errorf("%q is %v; expected an error", text, got)
		}
	}
	for _, text := range []string{"{}", "{[0,32)}", "{[0,32),[991,992)}"} {
		got, err := parseMultirange(text)
		again := "{"
		for i, r := range got {
			if i > 0 {
				again += ","
			}
			again += fmt.Sprintf("[%d,%d)", r.Lowest, r.Highest+1)
		}
		if again += "}"; err != nil || again != text {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	if got, err := parseMultirange("{(,5)}"); err == nil {
		t.Errorf("no bound: %v", got)
	}
}

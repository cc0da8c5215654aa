package generator

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDefaultLayoutIsValidAndEndsIn2093(t *testing.T) {
	l := DefaultLayout()
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	if got, want := l.End(), time.Date(2093, time.September, 6, 15, 47, 35, 552_000_000, time.UTC); !got.Equal(want) {
		t.Errorf("ends on %v, want %v", got, want)
	}
	if l.Workers() != 1024 || l.MaxTick() != 1<<41-1 || l.MaxSequence() != 4095 || l.String() != "41/0/10/12" {
		t.Errorf("%v: %d workers, last tick %d, last sequence %d", l, l.Workers(), l.MaxTick(), l.MaxSequence())
	}
}

func TestPresetsAreValidAndReadAsTheirNumbers(t *testing.T) {
	for name, text := range map[string]string{
		"twitter": "41/0/10/12", "datacenter": "41/5/5/12", "javascript": "41/0/6/6",
	} {
		preset, err := ParseLayout(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := preset.Validate(); err != nil {
			t.Error(err)
		}
		numbers, err := ParseLayout(text)
		if err != nil || numbers != preset || preset.String() != text {
			t.Errorf("%s is %v, %s is %v, %v", name, preset, text, numbers, err)
		}
	}
}

func TestPresetJavascriptFits53Bits(t *testing.T) {
	l, err := ParseLayout("javascript")
	if err != nil {
		t.Fatal(err)
	}
	largest, err := l.Compose(l.MaxTick(), l.Workers()-1, l.MaxSequence())
	if err != nil || largest != 1<<53-1 {
		t.Errorf("largest ID %d, %v; want Number.MAX_SAFE_INTEGER", largest, err)
	}
}

func TestLayoutTextThatCannotBeReadIsQuoted(t *testing.T) {
	for _, text := range []string{
		"", "41", "41/10/12", "41/0/10/12/1", "41/0/10/x", "41/-1/10/12", "+41/0/10/12", " 41/0/10/12", "41//10/12",
		"41/0/10/300", "Twitter", "9999999999999999999999/0/1/1",
	} {
		_, err := ParseLayout(text)
		if err == nil {
			t.Errorf("%q was read", text)
			continue
		}
		for _, want := range []string{`"` + text + `"`, "41/0/10/12", "twitter, datacenter, javascript"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
}

func TestLayoutsThatCannotBeAreRefusedWithTheirValues(t *testing.T) {
	for _, test := range []struct {
		change func(l *Layout)
		want   []string
	}{
		{func(l *Layout) { l.TimestampBits = 27 }, []string{"27 timestamp bits", "28 to 43"}},
		{func(l *Layout) { l.TimestampBits = 44 }, []string{"44 timestamp bits", "28 to 43"}},
		{func(l *Layout) { l.DatacenterBits = -1 }, []string{"-1 datacenter bits", "0 to 15"}},
		{func(l *Layout) { l.DatacenterBits = 16 }, []string{"16 datacenter bits", "0 to 15"}},
		{func(l *Layout) { l.WorkerBits = 0 }, []string{"0 worker bits", "1 to 16"}},
		{func(l *Layout) { l.WorkerBits = 17 }, []string{"17 worker bits", "1 to 16"}},
		{func(l *Layout) { l.SequenceBits = 0 }, []string{"0 sequence bits", "1 to 22"}},
		{func(l *Layout) { l.SequenceBits = 23 }, []string{"23 sequence bits", "1 to 22"}},
		{func(l *Layout) { l.DatacenterBits = 7 }, []string{"7 datacenter", "10 worker", "17", "16"}},
		{
			func(l *Layout) { l.TimestampBits = 42 },
			[]string{"42 timestamp", "0 datacenter", "10 worker", "12 sequence", "64", "63"},
		},
		{func(l *Layout) { l.Unit = 0 }, []string{"unit 0s", "1ms to 1s"}},
		{func(l *Layout) { l.Unit = 1500 * time.Microsecond }, []string{"unit 1.5ms"}},
		{func(l *Layout) { l.Unit = 1001 * time.Millisecond }, []string{"unit 1.001s"}},
		{func(l *Layout) { l.Unit = -time.Millisecond }, []string{"unit -1ms"}},
		{func(l *Layout) { l.Epoch = time.Time{} }, []string{"0001-01-01", "1970"}},
		{func(l *Layout) { l.Epoch = l.Epoch.Add(time.Microsecond) }, []string{".000001Z", "whole millisecond"}},
		{func(l *Layout) { l.Epoch = l.Epoch.AddDate(9000, 0, 0) }, []string{"11024", "9999"}},
	} {
		l := DefaultLayout()
		test.change(&l)
		err := l.Validate()
		if err == nil {
			t.Errorf("%+v is valid; want an error about %q", l, test.want)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		if _, err := New(Settings{Layout: l, Now: func() int64 { return 0 }}); err == nil {
			t.Errorf("a generator was made with %+v", l)
		}
	}
}

func TestBoundsOfTheRangesAreInside(t *testing.T) {
	for _, bits := range [][4]int{
		{43, 0, 1, 1}, {43, 0, 16, 4}, {28, 15, 1, 1}, {28, 0, 1, 22}, {28, 0, 13, 22}, {40, 0, 1, 22}, {41, 5, 5, 12},
	} {
		l := Layout{bits[0], bits[1], bits[2], bits[3], time.Unix(0, 0), time.Second}
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestLifetimeIsCheckedAgainstTheGivenTime(t *testing.T) {
	l := DefaultLayout()
	for _, test := range []struct {
		name string
		now  time.Time
		want []string // of the error; none if there is none
	}{
		{"a day after the epoch", l.Epoch.Add(24 * time.Hour), nil},
		{"less than a day after it", l.Epoch.Add(24*time.Hour - 1), []string{"less than a day ago", "earlier epoch"}},
		{"before the epoch", l.Epoch.Add(-time.Second), []string{"2024-01-01T00:00:00Z", "2023-12-31T23:59:59Z"}},
		{"thirteen months before the end", l.End().AddDate(0, -13, 0), nil},
		{
			"eleven months before the end", l.End().AddDate(0, -11, 0),
			[]string{"41/0/10/12", "2093-09-06", "2092-10-06", "1 year"},
		},
		{"after the end", l.End().AddDate(1, 0, 0), []string{"2093-09-06", "2094-09-06"}},
	} {
		err := l.CheckLifetime(test.now)
		if (err != nil) != (test.want != nil) {
			t.Errorf("%s: %v", test.name, err)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", test.name, err, want)
			}
		}
	}
}

func TestALayoutOf28BitsInMillisecondsLastsThreeDays(t *testing.T) {
	l := DefaultLayout()
	l.TimestampBits = 28
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	day := l.Epoch.Add(24 * time.Hour)
	if err := l.CheckLifetime(day); err == nil {
		t.Error("a layout that ends after three days is no use")
	}
	l.Unit = time.Second
	if err := l.CheckLifetime(day); err != nil {
		t.Error(err)
	}
}

func TestYearsLeftCountsDownToTheEnd(t *testing.T) {
	l := DefaultLayout()
	if got := l.yearsLeft(l.Epoch); math.Abs(got-69.68) > 0.01 {
		t.Errorf("%v years at the epoch, want 69.68", got)
	}
	if got := l.yearsLeft(l.End()); got != 0 {
		t.Errorf("%v years at the end", got)
	}
	if got := l.yearsLeft(l.End().AddDate(10, 0, 0)); math.Abs(got+10) > 0.01 {
		t.Errorf("%v years ten years after the end", got)
	}
}

func TestATickHasItsTimeToTheEndOfTheWidestLayout(t *testing.T) {
	l := Layout{43, 0, 1, 1, DefaultLayout().Epoch, time.Second} // 278,000 years: more than a Duration holds
	for _, tick := range []int64{0, 1, 1 << 40, l.MaxTick()} {
		if got := l.Time(tick).Unix() - l.Epoch.Unix(); got != tick {
			t.Errorf("tick %d is at %v, %d s after the epoch", tick, l.Time(tick), got)
		}
	}
	if year := l.End().Year(); year < 280_000 {
		t.Errorf("ends in %d", year)
	}
	if left := l.yearsLeft(l.Epoch); left < 292 {
		t.Errorf("%v years left", left)
	}
}

func TestATimeHasTheIDsOfAllTicksThatItTouches(t *testing.T) {
	l := small() // 4 IDs a tick
	for unit, want := range map[time.Duration]int{
		time.Millisecond: 51 * 4, 20 * time.Millisecond: 3 * 4, time.Second: 4,
	} {
		l.Unit = unit
		if got := newRig(t, l).Has(50 * time.Millisecond); got != want {
			t.Errorf("50 ms with ticks of %v have %d IDs, want %d", unit, got, want)
		}
	}
}

func TestWorkersOfADatacenterAreThoseWithItsUpperBits(t *testing.T) {
	l, err := ParseLayout("datacenter")
	if err != nil {
		t.Fatal(err)
	}
	for datacenter, want := range map[int][2]int{0: {0, 31}, 3: {96, 127}, 31: {992, 1023}} {
		lowest, highest, err := l.WorkersOf(datacenter)
		if err != nil || lowest != want[0] || highest != want[1] {
			t.Errorf("datacenter %d: workers %d to %d, %v; expected %d", datacenter, lowest, highest, err, want)
		}
	}
	for _, datacenter := range []int{-1, 32, 1 << 20} {
		if _, _, err := l.WorkersOf(datacenter); err == nil ||
			!strings.Contains(err.Error(), strconv.Itoa(datacenter)) || !strings.Contains(err.Error(), "0 to 31") {
			t.Errorf("datacenter %d: %v", datacenter, err)
		}
	}
	if _, _, err := DefaultLayout().WorkersOf(0); err == nil ||
		!strings.Contains(err.Error(), "41/0/10/12 has no datacenter bits") {
		t.Errorf("a layout without datacenters: %v", err)
	}
}

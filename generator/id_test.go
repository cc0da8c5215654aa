package generator

import (
	"strings"
	"testing"
	"time"
)

func TestComposeRefusesWhatDoesNotFitItsBits(t *testing.T) {
	l, err := ParseLayout("41/5/5/12")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tick             int64
		worker, sequence int
		want             string
	}{
		{-1, 0, 0, "tick -1 does not fit 41 timestamp bits"},
		{1 << 41, 0, 0, "tick 2199023255552 does not fit 41 timestamp bits: 0 to 2199023255551"},
		{0, -1, 0, "worker -1 does not fit"},
		{0, 1024, 0, "worker 1024 does not fit 5 datacenter and 5 worker bits: 0 to 1023"},
		{0, 0, -1, "sequence -1 does not fit"},
		{0, 0, 4096, "sequence 4096 does not fit 12 sequence bits: 0 to 4095"},
	} {
		if id, err := l.Compose(test.tick, test.worker, test.sequence); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%d, %v; want %q", id, err, test.want)
		}
	}
}

func TestDecodeTellsTheDatacenterFromTheUpperBitsOfTheWorker(t *testing.T) {
	l, err := ParseLayout("datacenter")
	if err != nil {
		t.Fatal(err)
	}
	id, err := l.Compose(86_401_000, 3<<5|17, 42)
	if err != nil {
		t.Fatal(err)
	}
	want := Parts{
		Time: l.Epoch.Add(24*time.Hour + time.Second), Tick: 86_401_000, Datacenter: 3, Worker: 3<<5 | 17, Sequence: 42,
	}
	if got, err := l.Decode(id); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestANumberOfTheFirstDayIsAnOldKeyAndHasNoTime(t *testing.T) {
	for _, unit := range []time.Duration{time.Millisecond, 7 * time.Millisecond, time.Second} {
		l := DefaultLayout()
		l.Unit = unit
		first := l.FirstTick()
		if l.Time(first).Sub(l.Epoch) < 24*time.Hour || l.Time(first-1).Sub(l.Epoch) >= 24*time.Hour {
			t.Errorf("unit %v: the first tick begins %v after the epoch, want a day", unit, l.Time(first).Sub(l.Epoch))
		}
		for id, want := range map[int64]time.Time{
			0: {}, 1: {}, 1<<31 - 1: {}, first<<22 - 1: {}, first << 22: l.Time(first),
		} {
			if p, err := l.Decode(id); err != nil || !p.Time.Equal(want) {
				t.Errorf("unit %v: %d is of %v, %v; want %v", unit, id, p.Time, err, want)
			}
		}
		if l.CheckLifetime(l.Time(first-1)) == nil || l.CheckLifetime(l.Time(first)) != nil {
			t.Errorf("unit %v: a namespace may be made before the first ID that has a time", unit)
		}
	}
}

func TestDecodeRefusesWhatNoIDCanBe(t *testing.T) {
	l, err := ParseLayout("javascript")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int64]string{
		-1:      "-1 is negative",
		1 << 53: "9007199254740992 has 54 bits; an ID of layout 41/0/6/6 has at most 53",
	} {
		if p, err := l.Decode(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", p, err, want)
		}
	}
	if _, err := l.Decode(1<<53 - 1); err != nil {
		t.Error(err)
	}
}

func FuzzDecodeAndComposeAreInverse(f *testing.F) {
	f.Add(uint8(41), uint8(0), uint8(10), uint8(12), int64(1)<<62)
	f.Add(uint8(41), uint8(5), uint8(5), uint8(12), int64(0))
	f.Add(uint8(43), uint8(0), uint8(1), uint8(1), int64(-1))
	f.Add(uint8(28), uint8(15), uint8(1), uint8(1), int64(1)<<45-1)
	f.Fuzz(func(t *testing.T, timestamp, datacenter, worker, sequence uint8, id int64) {
		l := DefaultLayout()
		l.TimestampBits, l.DatacenterBits = int(timestamp), int(datacenter)
		l.WorkerBits, l.SequenceBits = int(worker), int(sequence)
		if l.Validate() != nil {
			return
		}
		p, err := l.Decode(id)
		if fits := id >= 0 && id>>l.Bits() == 0; fits != (err == nil) {
			t.Fatalf("%v: %d: fits %t, %v", l, id, fits, err)
		}
		if err != nil {
			return
		}
		since := p.Time.UnixMilli() - l.Epoch.UnixMilli()
		if p.Datacenter != p.Worker>>worker ||
			p.Time.IsZero() != (p.Tick < l.FirstTick()) || !p.Time.IsZero() && since != p.Tick*l.Unit.Milliseconds() {
			t.Errorf("%v: %d: %+v", l, id, p)
		}
		if back, err := l.Compose(p.Tick, p.Worker, p.Sequence); err != nil || back != id {
			t.Errorf("%v: %d is %+v, which is %d, %v", l, id, p, back, err)
		}
	})
}

func FuzzParseLayoutGivesValidLayoutsThatPrintTheSame(f *testing.F) {
	for _, text := range []string{
		"41/0/10/12", "twitter", "datacenter", "javascript", "", "/", "41/0/10", "041/00/10/12", "28/15/1/1",
		"43/0/16/22", "-1/0/1/1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLayout(text)
		if err != nil {
			if l != (Layout{}) {
				t.Errorf("%q: %v with %v", text, l, err)
			}
			return
		}
		if err := l.Validate(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if again, err := ParseLayout(l.String()); err != nil || again != l {
			t.Errorf("%q is %v, which is %v, %v", text, l, again, err)
		}
	})
}

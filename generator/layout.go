package generator

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// idBits is the number of bits in an ID: 64 without the sign.
const idBits = 63

// Ranges of a layout's parts, in bits. The tables of a namespace check the same (package migrations).
const (
	minTimestampBits, maxTimestampBits   = 28, 43
	minDatacenterBits, maxDatacenterBits = 0, 15
	minWorkerBits, maxWorkerBits         = 1, 16
	minSequenceBits, maxSequenceBits     = 1, 22
	maxDatacenterAndWorkerBits           = 16
)

// leastYears is how many years a layout must still last when a namespace is made with it.
const leastYears = 1

// year is the mean Gregorian year.
const year = 31_556_952 * time.Second

// Layout says how the 63 bits of an ID split, and which time its ticks stand for. The zero value is not valid. All
// methods except Validate expect a valid layout.
type Layout struct {
	TimestampBits  int           // 28 to 43
	DatacenterBits int           // 0 to 15; datacenter and worker together at most 16
	WorkerBits     int           // 1 to 16
	SequenceBits   int           // 1 to 22; all four together at most 63
	Epoch          time.Time     // start of tick 0: a whole millisecond, not before 1970
	Unit           time.Duration // length of a tick: whole milliseconds, 1 ms to 1 s
}

// preset is a layout with a name. JavaScript numbers are exact up to 53 bits.
type preset struct {
	name                                    string
	timestamp, datacenter, worker, sequence int
}

var presets = [...]preset{
	{"twitter", 41, 0, 10, 12},
	{"datacenter", 41, 5, 5, 12},
	{"javascript", 41, 0, 6, 6},
}

// DefaultLayout returns 41/0/10/12 in milliseconds since 2024-01-01T00:00:00Z. It lasts until 2093.
func DefaultLayout() Layout {
	return Layout{
		TimestampBits: 41, DatacenterBits: 0, WorkerBits: 10, SequenceBits: 12,
		Epoch: time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC),
		Unit:  time.Millisecond,
	}
}

// ParseLayout reads "timestamp/datacenter/worker/sequence" in bits, such as "41/0/10/12", or the name of a preset:
// twitter (41/0/10/12), datacenter (41/5/5/12), javascript (41/0/6/6: 53 bits). Epoch and unit are the defaults. The
// layout is valid if the error is nil.
func ParseLayout(text string) (Layout, error) {
	layout := DefaultLayout()
	bits := [...]*int{&layout.TimestampBits, &layout.DatacenterBits, &layout.WorkerBits, &layout.SequenceBits}
	for _, p := range presets {
		if p.name == text {
			*bits[0], *bits[1], *bits[2], *bits[3] = p.timestamp, p.datacenter, p.worker, p.sequence
			return layout, nil
		}
	}
	parts := strings.Split(text, "/")
	if len(parts) != len(bits) {
		return Layout{}, unreadable(text)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return Layout{}, unreadable(text)
		}
		*bits[i] = int(n)
	}
	if err := layout.Validate(); err != nil {
		return Layout{}, err
	}
	return layout, nil
}

func unreadable(text string) error {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return fmt.Errorf("layout %q is neither four numbers of bits, "+
		"timestamp/datacenter/worker/sequence such as 41/0/10/12, nor one of %s", text, strings.Join(names, ", "))
}

// Validate checks each part against its range and the parts against each other. It does not check how long the layout
// lasts; see CheckLifetime.
func (l Layout) Validate() error {
	for _, part := range [...]struct {
		name             string
		bits, least, top int
	}{
		{"timestamp", l.TimestampBits, minTimestampBits, maxTimestampBits},
		{"datacenter", l.DatacenterBits, minDatacenterBits, maxDatacenterBits},
		{"worker", l.WorkerBits, minWorkerBits, maxWorkerBits},
		{"sequence", l.SequenceBits, minSequenceBits, maxSequenceBits},
	} {
		if part.bits < part.least || part.bits > part.top {
			return fmt.Errorf("layout %v has %d %s bits; there may be %d to %d",
				l, part.bits, part.name, part.least, part.top)
		}
	}
	if both := l.DatacenterBits + l.WorkerBits; both > maxDatacenterAndWorkerBits {
		return fmt.Errorf("layout %v has %d datacenter bits and %d worker bits, together %d; there may be %d",
			l, l.DatacenterBits, l.WorkerBits, both, maxDatacenterAndWorkerBits)
	}
	if l.Bits() > idBits {
		return fmt.Errorf("layout %v needs %d timestamp + %d datacenter + %d worker + %d sequence = %d bits; "+
			"an ID has %d",
			l, l.TimestampBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits, l.Bits(), idBits)
	}
	if l.Unit < time.Millisecond || l.Unit > time.Second || l.Unit%time.Millisecond != 0 {
		return fmt.Errorf("unit %v is not a whole number of milliseconds from 1ms to 1s", l.Unit)
	}
	if l.Epoch.Unix() < 0 || l.Epoch.Nanosecond()%int(time.Millisecond) != 0 {
		return fmt.Errorf("epoch %s is before 1970 or not a whole millisecond", l.Epoch.Format(time.RFC3339Nano))
	}
	if last := time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC); l.Epoch.After(last) {
		return fmt.Errorf("epoch %s is after the year 9999", l.Epoch.Format(time.RFC3339Nano))
	}
	return nil
}

// CheckLifetime refuses a layout that cannot serve a new namespace at the given time. Its epoch is in the future or
// less than a day ago, or its timestamp bits have ended or end within a year. An existing namespace is used to its end.
func (l Layout) CheckLifetime(now time.Time) error {
	if now.Before(l.Epoch) {
		return fmt.Errorf("epoch %s is still to come: now is %s",
			l.Epoch.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	if first := l.Time(l.FirstTick()); now.Before(first) {
		return fmt.Errorf("epoch %s is less than a day ago: now is %s; "+
			"numbers of its first day are left to the keys that tables had before, so take an earlier epoch",
			l.Epoch.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	if left := l.yearsLeft(now); left < leastYears {
		return fmt.Errorf("layout %v: %d timestamp bits in units of %v since %s end on %s, now is %s; "+
			"there must be at least %d year left: take a later epoch, more timestamp bits or a longer unit",
			l, l.TimestampBits, l.Unit, l.Epoch.Format(time.RFC3339), l.End().Format(time.RFC3339),
			now.Format(time.RFC3339), leastYears)
	}
	return nil
}

// yearsLeft returns the years from now to the end of the timestamp bits: negative after the end, and at most 292.
func (l Layout) yearsLeft(now time.Time) float64 {
	return l.End().Sub(now).Seconds() / year.Seconds()
}

// String returns the layout's bits as ParseLayout reads them: "41/0/10/12".
func (l Layout) String() string {
	return fmt.Sprintf("%d/%d/%d/%d", l.TimestampBits, l.DatacenterBits, l.WorkerBits, l.SequenceBits)
}

// Full returns the layout with its epoch and unit, for messages.
func (l Layout) Full() string {
	return fmt.Sprintf("%s, epoch %s, unit %s", l, l.Epoch.UTC().Format(time.RFC3339Nano), l.Unit)
}

// Equal reports whether two layouts give the same IDs.
func (l Layout) Equal(other Layout) bool {
	return l.String() == other.String() && l.Epoch.Equal(other.Epoch) && l.Unit == other.Unit
}

// Workers returns the number of workers. They are 0 to Workers()-1.
func (l Layout) Workers() int { return 1 << (l.DatacenterBits + l.WorkerBits) }

// WorkersOf returns the lowest and the highest worker of a datacenter, whose number is the upper bits of each. It fails
// if the layout has no such datacenter.
func (l Layout) WorkersOf(datacenter int) (lowest, highest int, err error) {
	switch {
	case l.DatacenterBits == 0:
		return 0, 0, fmt.Errorf("datacenter is %d, but layout %v has no datacenter bits", datacenter, l)
	case datacenter < 0 || datacenter >= 1<<l.DatacenterBits:
		return 0, 0, fmt.Errorf("datacenter is %d, but layout %v has datacenters 0 to %d",
			datacenter, l, 1<<l.DatacenterBits-1)
	}
	return datacenter << l.WorkerBits, (datacenter+1)<<l.WorkerBits - 1, nil
}

// FirstTick is the first tick an ID can have: a day after the epoch, which CheckLifetime enforces. A number of an
// earlier tick is an old key: a sequence gave it before its table was converted.
func (l Layout) FirstTick() int64 { return int64((24*time.Hour + l.Unit - 1) / l.Unit) }

// MaxTick is the last tick an ID can have.
func (l Layout) MaxTick() int64 { return 1<<l.TimestampBits - 1 }

// MaxSequence is the last sequence an ID can have.
func (l Layout) MaxSequence() int { return 1<<l.SequenceBits - 1 }

// End returns the instant after the last tick, in UTC. From then on there are no IDs.
func (l Layout) End() time.Time { return l.Time(l.MaxTick() + 1) }

// Time returns the start of a tick, in UTC.
func (l Layout) Time(tick int64) time.Time {
	return time.UnixMilli(l.Epoch.UnixMilli() + tick*l.Unit.Milliseconds()).UTC()
}

// Bits returns how many of the 63 bits of an ID the layout uses.
func (l Layout) Bits() int {
	return l.TimestampBits + l.DatacenterBits + l.WorkerBits + l.SequenceBits
}

// tickShift returns the position of the timestamp: the number of bits below it.
func (l Layout) tickShift() int { return l.DatacenterBits + l.WorkerBits + l.SequenceBits }

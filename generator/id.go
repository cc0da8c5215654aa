package generator

import (
	"fmt"
	"math/bits"
	"time"
)

// Parts are the fields of an ID.
type Parts struct {
	Time       time.Time // start of the tick, UTC; zero for an old key, whose tick is before Layout.FirstTick
	Tick       int64     // whole units since the epoch
	Datacenter int       // the upper bits of Worker; 0 if the layout has no datacenter bits
	Worker     int       // datacenter and worker bits as one number
	Sequence   int       // counts within worker and tick
}

// Compose makes the ID of a tick (0 to MaxTick), worker (0 to Workers-1) and sequence (0 to MaxSequence). It refuses a
// value that does not fit its bits. Cut off, it would change the neighbouring field: the ID of another worker.
func (l Layout) Compose(tick int64, worker, sequence int) (int64, error) {
	switch {
	case tick < 0 || tick > l.MaxTick():
		return 0, fmt.Errorf("tick %d does not fit %d timestamp bits: 0 to %d", tick, l.TimestampBits, l.MaxTick())
	case worker < 0 || worker >= l.Workers():
		return 0, fmt.Errorf("worker %d does not fit %d datacenter and %d worker bits: 0 to %d",
			worker, l.DatacenterBits, l.WorkerBits, l.Workers()-1)
	case sequence < 0 || sequence > l.MaxSequence():
		return 0, fmt.Errorf("sequence %d does not fit %d sequence bits: 0 to %d",
			sequence, l.SequenceBits, l.MaxSequence())
	}
	return tick<<l.tickShift() | int64(worker)<<l.SequenceBits | int64(sequence), nil
}

// Decode takes an ID of this layout apart. It refuses a negative number, and one with more bits than the layout has. A
// number below the first possible ID is an old key, and its Time is zero.
func (l Layout) Decode(id int64) (Parts, error) {
	if id < 0 {
		return Parts{}, negative(id)
	}
	if have := bits.Len64(uint64(id)); have > l.Bits() {
		return Parts{}, fmt.Errorf("%d has %d bits; an ID of layout %v has at most %d", id, have, l, l.Bits())
	}
	tick := id >> l.tickShift()
	worker := int(id>>l.SequenceBits) & (l.Workers() - 1)
	parts := Parts{
		Tick:       tick,
		Datacenter: worker >> l.WorkerBits,
		Worker:     worker,
		Sequence:   int(id) & l.MaxSequence(),
	}
	if tick >= l.FirstTick() {
		parts.Time = l.Time(tick)
	}
	return parts, nil
}

func negative(id int64) error { return fmt.Errorf("%d is negative; an ID is not", id) }

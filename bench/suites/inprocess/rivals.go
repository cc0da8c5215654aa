package inprocess

import (
	"crypto/rand"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/sony/sonyflake"
)

// Rivals are the modules of the libraries. The report has their versions.
var Rivals = []string{
	"github.com/bwmarrin/snowflake", "github.com/sony/sonyflake", "github.com/oklog/ulid/v2", "github.com/rs/xid",
	"github.com/google/uuid",
}

// bwmarrin is bwmarrin/snowflake with that many of its 22 bits for the sequence. Its default is 12 bits, 4,096 IDs a
// millisecond. When they are used up, it spins.
func bwmarrin(name string, stepBits uint8) (source, error) {
	node, step := snowflake.NodeBits, snowflake.StepBits
	snowflake.NodeBits, snowflake.StepBits = 22-stepBits, stepBits
	n, err := snowflake.NewNode(1) // keeps the widths
	snowflake.NodeBits, snowflake.StepBits = node, step
	return oneEach(name, func() (snowflake.ID, error) { return n.Generate(), nil }), err
}

func newSonyflake() (*sonyflake.Sonyflake, error) {
	return sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
}

// sonyflakes asks for more than sonyflake has, which is 256 IDs in 10 ms. Then it sleeps.
func sonyflakes(name string) (source, error) {
	s, err := newSonyflake()
	return oneEach(name, func() (uint64, error) { return s.NextID() }), err
}

const (
	sonyflakeTick  = 10 * time.Millisecond
	sonyflakeBurst = 200 // IDs that count, of the 256 of a tick
	burstWarmUp    = 56  // IDs before them, because the processor has slept
)

// sonyflakeBursts draws what one tick has, and counts only the time of the calls. The layout is fixed, so there is no
// other way to get the cost of a call that does not wait. It makes one burst, whatever it is asked for.
func sonyflakeBursts() (source, error) {
	s, err := newSonyflake()
	draw := oneEach("sonyflake, in bursts of 200", func() (uint64, error) { return s.NextID() })
	many := draw.many
	draw.alone = true
	draw.many = func(int) (made, error) {
		time.Sleep(2 * sonyflakeTick)
		if _, err := many(burstWarmUp); err != nil {
			return made{}, err
		}
		spent, began := processorTime(), time.Now()
		m, err := many(sonyflakeBurst)
		m.took = time.Since(began)
		m.spent = min(m.took, processorTime()-spent) // the rest was spent on measuring
		return m, err
	}
	return draw, err
}

// ulidMake is the call that ulid's documents recommend.
func ulidMake() source {
	return oneEach("ulid `Make`", func() (ulid.ULID, error) { return ulid.Make(), nil })
}

// ulidMonotonic takes its entropy from crypto/rand instead of math/rand.
func ulidMonotonic() source {
	entropy := &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}
	return oneEach("ulid, monotonic from `crypto/rand`", func() (ulid.ULID, error) {
		return ulid.New(ulid.Now(), entropy)
	})
}

func xids() source {
	return oneEach("xid", func() (xid.ID, error) { return xid.New(), nil })
}

// uuids are google/uuid's UUIDs of a version, without and with its pool of randomness.
func uuids(name string, call func() (uuid.UUID, error)) []source {
	plain, pooled := oneEach(name, call), oneEach(name+", `EnableRandPool`", call)
	pooled.set, pooled.reset = uuid.EnableRandPool, uuid.DisableRandPool
	return []source{plain, pooled}
}

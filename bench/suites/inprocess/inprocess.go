package inprocess

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/sony/sonyflake"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
	"pgflurry/generator"
	"pgflurry/internal/lease"
)

// The tasks.
const (
	aCall   = "a call"
	atLimit = "at the layout's limit"
)

// Contenders that are judged.
const (
	Next      = "pgflurry `Next`"
	nextNName = "pgflurry `NextN`, 100 a call"
	busy      = "processors busy"
)

// Libraries are the modules of the other contenders. The report has their versions.
var Libraries = []string{
	"github.com/bwmarrin/snowflake", "github.com/sony/sonyflake", "github.com/oklog/ulid/v2", "github.com/rs/xid",
	"github.com/google/uuid",
}

// source makes IDs. Several goroutines call many at once. last keeps a compiler from removing a call.
type source struct {
	name string
	many func(calls int) (ids int, last any, err error)
}

// oneEach is a source with one ID a call. The call through a function value costs a nanosecond, for all contenders
// alike, and for the reading of the clock, too.
func oneEach[T any](name string, call func() (T, error)) source {
	return source{name, func(calls int) (ids int, _ any, err error) {
		var last T
		for range calls {
			if last, err = call(); err != nil {
				break
			}
		}
		return calls, last, err
	}}
}

// sources makes the contenders of the two tasks.
func sources() (call, limit []source, err error) {
	wide := generator.DefaultLayout() // four million IDs a millisecond
	wide.TimestampBits, wide.WorkerBits, wide.SequenceBits = 40, 1, 22
	spacious, err1 := granted(wide)
	usual, err2 := granted(generator.DefaultLayout())
	flakes, err3 := bwmarrin(21)
	fewer, err4 := bwmarrin(12)
	sony, err5 := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
	start, ctx := time.Now(), context.Background()
	call = []source{
		oneEach(report.ClockReading, func() (time.Duration, error) { return time.Since(start), nil }),
		oneEach(Next, func() (int64, error) { return spacious.Next(ctx) }),
		{nextNName, func(calls int) (ids int, _ any, err error) {
			var first int64
			for range calls {
				var count int
				if first, count, err = spacious.NextN(ctx, 100); err != nil {
					break
				}
				ids += count
			}
			return ids, first, err
		}},
		oneEach("bwmarrin/snowflake, 21 bits of sequence", func() (snowflake.ID, error) {
			return flakes.Generate(), nil
		}),
		oneEach("ulid `Make`", func() (ulid.ULID, error) { return ulid.Make(), nil }),
		oneEach("xid", func() (xid.ID, error) { return xid.New(), nil }),
		oneEach("UUID v4", uuid.NewRandom), oneEach("UUID v7", uuid.NewV7),
	}
	limit = []source{
		oneEach(Next, func() (int64, error) { return usual.Next(ctx) }),
		oneEach("bwmarrin/snowflake", func() (snowflake.ID, error) { return fewer.Generate(), nil }),
		oneEach("sonyflake", func() (uint64, error) { return sony.NextID() }),
	}
	return call, limit, errors.Join(err1, err2, err3, err4, err5)
}

// granted is a generator with a grant for the whole run. Its clock is the proxy's: the database's time, plus what has
// passed since.
func granted(layout generator.Layout) (*generator.Generator, error) {
	clock := lease.NewClock(layout.Unit)
	clock.Observe(time.Since(generator.DefaultLayout().Epoch).Microseconds(), 0, clock.Monotonic())
	g, err := generator.New(generator.Settings{Layout: layout, Now: clock.Now})
	if err != nil {
		return nil, err
	}
	return g, g.Grant(1, 0, layout.MaxTick())
}

// bwmarrin is bwmarrin/snowflake with that many of its 22 bits for the sequence. Its default is 12 bits, 4,096 IDs a
// millisecond. When they are used up, it spins.
func bwmarrin(stepBits uint8) (*snowflake.Node, error) {
	node, step := snowflake.NodeBits, snowflake.StepBits
	defer func() { snowflake.NodeBits, snowflake.StepBits = node, step }()
	snowflake.NodeBits, snowflake.StepBits = 22-stepBits, stepBits
	return snowflake.NewNode(1) // keeps the widths
}

// Plan makes the trials. The caller fills in rounds, times and seed.
func Plan(goroutines []int) (p trial.Plan, err error) {
	call, limit, err := sources()
	for _, task := range []struct {
		name    string
		sources []source
	}{{aCall, call}, {atLimit, limit}} {
		for _, n := range goroutines {
			for _, s := range task.sources {
				p.Trials = append(p.Trials, trial.Trial{
					Workload: trial.With(task.name, n, "goroutine", "IDs"), Contender: s.name, Run: s.run(n),
				})
			}
		}
	}
	return p, err
}

// atOnce is the number of calls between two looks at the time.
const atOnce = 64

// run makes IDs with that many goroutines until the time is over. It makes at least some, because on a busy machine a
// short turn may be over before it begins.
func (s source) run(goroutines int) trial.Turn {
	return func(ctx context.Context, d time.Duration, _ trial.Measure) (trial.Count, error) {
		if err := ctx.Err(); err != nil {
			return trial.Count{}, err
		}
		var over atomic.Bool
		var made atomic.Int64
		errs := make([]error, goroutines)
		var group sync.WaitGroup
		spent, began := processorTime(), time.Now()
		defer time.AfterFunc(d, func() { over.Store(true) }).Stop()
		for i := range goroutines {
			group.Go(func() {
				all := 0
				for first := true; errs[i] == nil && (first || !over.Load()); first = false {
					ids, last, err := s.many(atOnce)
					if last == nil {
						err = errors.Join(err, fmt.Errorf("%s gave nothing", s.name))
					}
					all, errs[i] = all+ids, err
				}
				made.Add(int64(all))
			})
		}
		group.Wait()
		count := trial.Count{Operations: made.Load(), Elapsed: time.Since(began)}
		count.Spent = map[string]time.Duration{trial.Self: processorTime() - spent}
		count.Add(busy, count.Spent[trial.Self].Seconds()/count.Elapsed.Seconds())
		return count, errors.Join(errs...)
	}
}

// processorTime is the processor time of this process so far, user and system.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // the arguments are valid, and there is no other error
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// The targets.
const (
	rateHeld       = 0.99 // of the layout's rate: a turn begins and ends within a tick
	mostProcessors = 0.5
	mostReadings   = 1.3
	leastMillions  = 100 // IDs a second by NextN
)

// Verdicts says which targets are reached, of those that were measured.
func Verdicts(figures []report.Figure) (all []report.Verdict) {
	layout := generator.DefaultLayout()
	rate := float64(layout.MaxSequence()+1) / layout.Unit.Seconds()
	for _, f := range figures {
		readings, compared := f.CPURatios[report.ClockReading]
		theirs, beside := f.Ratios[Next]
		switch {
		case f.Task == atLimit && f.Contender == Next:
			all = append(all, report.AtLeast(f.Workload+": share of the layout's 4,096 IDs a tick",
				f.PerSecond.Times(1/rate), rateHeld),
				report.AtMost(f.Workload+": processors busy", f.Also[busy], mostProcessors))
		case f.Task != aCall:
		case f.Clients == 1 && f.Contender == nextNName:
			all = append(all, report.AtLeast(f.Workload+": `NextN`, millions of IDs a second",
				f.PerSecond.Times(1e-6), leastMillions))
		case f.Clients == 1 && f.Contender == Next && compared:
			all = append(all, report.AtMost(f.Workload+": processor time of `Next`, in readings of the clock", readings,
				mostReadings))
		case beside && f.Contender != report.ClockReading && !strings.HasPrefix(f.Contender, "pgflurry"):
			all = append(all,
				report.AtLeast(f.Workload+": throughput of `Next` to that of "+f.Contender, theirs.Inverse(), 1))
		}
	}
	return all
}

package inprocess

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"pgflurry/bench/trial"
	"pgflurry/generator"
)

// The tasks.
const (
	aCall   = "a call"
	atLimit = "at the layout's limit"
)

// Tasks describes the layouts of each task, by its name.
func Tasks() map[string]string {
	return map[string]string{
		aCall: "layouts so wide that nobody waits: pgflurry 40/0/1/22, bwmarrin/snowflake 1 + 21 bits; " +
			"sonyflake's is fixed, so 200 of the 256 IDs of a tick are timed",
		atLimit: "layouts as they come: pgflurry and bwmarrin/snowflake 4,096 IDs in 1 ms, sonyflake 256 in 10 ms",
	}
}

// sources makes the contenders of the two tasks.
func sources() (call, limit []source, err error) {
	wide, usual := wideLayout(), generator.DefaultLayout()
	var errs []error
	add := func(to *[]source, s source, err error) {
		*to, errs = append(*to, s), append(errs, err)
	}
	add(&call, clockReading(), nil)
	add(&call, timeNow(), nil)
	s, err := next(Next, wide, leased(wide.Unit))
	add(&call, s, err)
	s, err = draw(wide)
	add(&call, s, err)
	s, err = next(plainName, wide, ticks())
	add(&call, s, err)
	s, err = nextN()
	add(&call, s, err)
	s, err = bwmarrin("bwmarrin/snowflake, 21 bits of sequence", 21)
	add(&call, s, err)
	s, err = sonyflakeBursts()
	add(&call, s, err)
	call = append(call, ulidMake(), ulidMonotonic(), xids())
	call = slices.Concat(call, uuids("UUID v4", uuid.NewRandom), uuids("UUID v7", uuid.NewV7))

	s, err = next(Next, usual, leased(usual.Unit))
	add(&limit, s, err)
	s, err = bwmarrin("bwmarrin/snowflake", 12)
	add(&limit, s, err)
	s, err = sonyflakes("sonyflake")
	add(&limit, s, err)
	return call, limit, errors.Join(errs...)
}

// Plan makes the trials. The caller fills in rounds, times and seed.
func Plan(goroutines []int) (trial.Plan, error) {
	call, limit, err := sources()
	var p trial.Plan
	for _, task := range []struct {
		name    string
		sources []source
	}{{aCall, call}, {atLimit, limit}} {
		for _, n := range goroutines {
			for _, s := range task.sources {
				if !s.alone || n == 1 {
					p.Trials = append(p.Trials,
						trial.Trial{Workload: workload(task.name, n), Contender: s.name, Run: s.run(n)})
				}
			}
		}
	}
	return p, err
}

func workload(task string, goroutines int) trial.Workload {
	return trial.Workload{
		Name: task + ", " + trial.Counted(goroutines, "goroutine"), Task: task, Clients: goroutines,
		Counts: "IDs", Group: task,
	}
}

// atOnce is the number of calls between two looks at the time.
const atOnce = 64

// run makes IDs with that many goroutines until the time is over.
func (s source) run(goroutines int) trial.Turn {
	return func(ctx context.Context, d time.Duration, _ trial.Measure) (trial.Count, error) {
		if err := ctx.Err(); err != nil {
			return trial.Count{}, err
		}
		if s.set != nil {
			s.set()
			defer s.reset()
		}
		var over atomic.Bool
		results, errs := make([]made, goroutines), make([]error, goroutines)
		var group sync.WaitGroup
		spent, began := processorTime(), time.Now()
		timer := time.AfterFunc(d, func() { over.Store(true) })
		defer timer.Stop()
		for i := range goroutines {
			group.Go(func() { results[i], errs[i] = s.until(&over) })
		}
		group.Wait()
		count := trial.Count{Elapsed: time.Since(began)}
		count.Spent = map[string]time.Duration{trial.Self: processorTime() - spent}
		var sum made
		for _, m := range results {
			sum.add(m)
		}
		count.Operations = int64(sum.ids)
		if sum.took > 0 { // there was one goroutine
			count.Elapsed, count.Spent[trial.Self] = sum.took, sum.spent
		}
		return count, errors.Join(errs...)
	}
}

// until makes calls until over, and at least some: on a busy machine a short turn may be over before it begins.
func (s source) until(over *atomic.Bool) (sum made, err error) {
	for {
		m, err := s.many(atOnce)
		if err != nil {
			return sum, err
		}
		if sum.add(m); over.Load() {
			return sum, nil
		}
	}
}

func (m *made) add(more made) {
	m.ids, m.last, m.took, m.spent = m.ids+more.ids, more.last, m.took+more.took, m.spent+more.spent
}

// processorTime is the processor time of this process so far, user and system.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // the arguments are valid, and there is no other error
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

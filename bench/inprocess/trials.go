package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pgflurry/bench"
	"pgflurry/generator"

	"github.com/google/uuid"
)

// The tasks.
const (
	aCall   = "a call"
	atLimit = "at the layout's limit"
)

// ways makes the contenders of the two tasks.
func ways() (call, limit []way, err error) {
	wide, usual := wideLayout(), generator.DefaultLayout()
	var errs []error
	add := func(to *[]way, w way, err error) {
		*to, errs = append(*to, w), append(errs, err)
	}
	add(&call, clockReading(), nil)
	add(&call, timeNow(), nil)
	w, err := next(nextName, wide, leased(wide.Unit))
	add(&call, w, err)
	w, err = draw(wide)
	add(&call, w, err)
	w, err = next(plainName, wide, ticks())
	add(&call, w, err)
	w, err = nextN()
	add(&call, w, err)
	w, err = bwmarrin("bwmarrin/snowflake, 21 bits of sequence", 21)
	add(&call, w, err)
	w, err = sonyflakeBursts()
	add(&call, w, err)
	call = append(call, ulidMake(), ulidMonotonic(), xids())
	call = slices.Concat(call, uuids("UUID v4", uuid.NewRandom), uuids("UUID v7", uuid.NewV7))

	w, err = next(nextName, usual, leased(usual.Unit))
	add(&limit, w, err)
	w, err = bwmarrin("bwmarrin/snowflake", 12)
	add(&limit, w, err)
	w, err = sonyflakes("sonyflake")
	add(&limit, w, err)
	return call, limit, errors.Join(errs...)
}

// plan lists the trials; rounds, times and seed are the caller's to fill in.
func plan(goroutines []int) (bench.Plan, error) {
	call, limit, err := ways()
	var p bench.Plan
	for _, task := range []struct {
		name string
		ways []way
	}{{aCall, call}, {atLimit, limit}} {
		for _, n := range goroutines {
			for _, w := range task.ways {
				if !w.alone || n == 1 {
					p.Trials = append(p.Trials, bench.Trial{Workload: workload(task.name, n), Contender: w.name, Run: w.run(n)})
				}
			}
		}
	}
	return p, err
}

func workload(task string, goroutines int) bench.Workload {
	name := fmt.Sprintf("%s, %d goroutines", task, goroutines)
	if goroutines == 1 {
		name = task + ", 1 goroutine"
	}
	return bench.Workload{Name: name, Task: task, Clients: goroutines, Unit: "IDs", Group: task}
}

// atOnce is how many calls are made between two looks at the time.
const atOnce = 64

// run makes IDs by so many goroutines until the time is over.
func (w way) run(goroutines int) bench.Turn {
	return func(ctx context.Context, d time.Duration, _ bench.Measure) (bench.Count, error) {
		if err := ctx.Err(); err != nil {
			return bench.Count{}, err
		}
		if w.set != nil {
			w.set()
			defer w.reset()
		}
		var over atomic.Bool
		results, errs := make([]made, goroutines), make([]error, goroutines)
		var group sync.WaitGroup
		spent, began := processorTime(), time.Now()
		timer := time.AfterFunc(d, func() { over.Store(true) })
		defer timer.Stop()
		for i := range goroutines {
			group.Go(func() { results[i], errs[i] = w.until(&over) })
		}
		group.Wait()
		count := bench.Count{Elapsed: time.Since(began)}
		count.Spent = map[string]time.Duration{bench.Self: processorTime() - spent}
		var sum made
		for _, m := range results {
			sum.add(m)
		}
		count.Operations = int64(sum.ids)
		if sum.took > 0 { // by one goroutine
			count.Elapsed, count.Spent[bench.Self] = sum.took, sum.spent
		}
		return count, errors.Join(errs...)
	}
}

// until makes calls until over, and some in any case: on a busy machine a short turn may be over before it begins.
func (w way) until(over *atomic.Bool) (sum made, err error) {
	for {
		m, err := w.many(atOnce)
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

// processorTime is what this process has spent so far, user and system.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // its arguments are right, and there is no other error
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

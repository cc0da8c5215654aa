package generator

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The clock advances by a tick every so many readings, so threads race through many ticks and no test waits for real
// time.
func countingClock(readings int64) (now func() int64, wait func(context.Context, time.Duration) error) {
	var read atomic.Int64
	read.Store(1000 * readings)
	now = func() int64 { return read.Add(1) / readings }
	wait = func(ctx context.Context, _ time.Duration) error {
		read.Add(readings / 2)
		runtime.Gosched()
		return ctx.Err()
	}
	return now, wait
}

// drawn holds the runs of IDs of one goroutine, in its order.
type drawn struct {
	ids []int64
	err error
}

func (d *drawn) add(first int64, count int) {
	for i := range int64(count) {
		d.ids = append(d.ids, first+i)
	}
}

// together starts draw eight times and returns the goroutines' IDs.
func together(draw func(who int, d *drawn)) []drawn {
	all := make([]drawn, 8)
	var group sync.WaitGroup
	for who := range all {
		group.Go(func() { draw(who, &all[who]) })
	}
	group.Wait()
	return all
}

// mustBeUnique checks that the IDs of each goroutine strictly increase, and that no ID was seen twice.
func mustBeUnique(t *testing.T, all []drawn) []int64 {
	t.Helper()
	var ids []int64
	for who, d := range all {
		for i := 1; i < len(d.ids); i++ {
			if d.ids[i] <= d.ids[i-1] {
				t.Fatalf("goroutine %d: %d after %d", who, d.ids[i], d.ids[i-1])
			}
		}
		ids = append(ids, d.ids...)
	}
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			t.Fatalf("%d was drawn twice", ids[i])
		}
	}
	return ids
}

func TestEightGoroutinesDrawUniqueIncreasingIDs(t *testing.T) {
	layout := DefaultLayout()
	layout.SequenceBits = 6
	now, wait := countingClock(100)
	g, err := New(Settings{Layout: layout, Now: now, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(9, 0, 1<<40); err != nil {
		t.Fatal(err)
	}
	const each = 50_000
	all := together(func(who int, d *drawn) {
		for len(d.ids) < each && d.err == nil {
			var first int64
			var count int
			switch len(d.ids) % 3 {
			case 0:
				first, d.err = g.Next(background)
				count = 1
			case 1:
				first, count, d.err = g.NextN(background, 1+who)
			case 2:
				first, count, d.err = g.TryNextN(1 + who)
				if count == 0 {
					first, count, d.err = g.NextN(background, 1)
				}
			}
			if d.err == nil {
				d.add(first, count)
			}
		}
	})
	for who, d := range all {
		if d.err != nil {
			t.Fatalf("goroutine %d: %v", who, d.err)
		}
	}
	if ids := mustBeUnique(t, all); len(ids) < 8*each {
		t.Errorf("%d IDs, want at least %d", len(ids), 8*each)
	}
}

func TestGoroutinesStayInsideTheGrantsWhileWorkersChange(t *testing.T) {
	layout := small()
	now, wait := countingClock(40)
	g, err := New(Settings{Layout: layout, Now: now, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(0, 0, 1050); err != nil {
		t.Fatal(err)
	}
	// Worker n may be used only in its slices of 50 ticks; each slice overlaps the one before by ten.
	var done atomic.Bool
	var granting sync.WaitGroup
	granting.Go(func() {
		for slice := int64(1); !done.Load(); {
			if now() >= 1000+slice*40 {
				if err := g.Grant(int(slice*5%8), 1000+slice*40, 1050+slice*40); err != nil {
					t.Errorf("slice %d: %v", slice, err)
					return
				}
				slice++
			}
		}
	})
	all := together(func(_ int, d *drawn) {
		for len(d.ids) < 20_000 {
			first, count, err := g.NextN(background, 3)
			switch {
			case errors.Is(err, ErrGrantEnded): // the next one comes soon
				runtime.Gosched()
			case err != nil:
				d.err = err
				return
			default:
				d.add(first, count)
			}
		}
	})
	done.Store(true)
	granting.Wait()
	for _, d := range all {
		if d.err != nil {
			t.Fatal(d.err)
		}
	}
	for _, id := range mustBeUnique(t, all) {
		p, err := layout.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		if !granted(p) {
			t.Fatalf("%+v is outside of every grant of its worker", p)
		}
	}
}

// granted reports whether a worker may be used in a tick (TestGoroutinesStayInsideTheGrantsWhileWorkersChange).
func granted(p Parts) bool {
	slice := (p.Tick - 1000) / 40
	for _, s := range []int64{slice - 1, slice} {
		if s >= 0 && int(s*5%8) == p.Worker && p.Tick < 1050+s*40 {
			return true
		}
	}
	return false
}

func TestSealStopsAllGoroutines(t *testing.T) {
	for range 100 {
		sealAmongEight(t)
	}
}

func sealAmongEight(t *testing.T) {
	t.Helper()
	now, wait := countingClock(1000)
	g, err := New(Settings{Layout: DefaultLayout(), Now: now, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(9, 0, 1<<40); err != nil {
		t.Fatal(err)
	}
	var begun, sealing sync.WaitGroup
	var returned atomic.Bool
	begun.Add(8)
	sealing.Go(func() {
		begun.Wait()
		g.Seal()
		returned.Store(true)
	})
	all := together(func(_ int, d *drawn) {
		for i := 0; ; i++ {
			over := returned.Load()
			var id int64
			if id, d.err = g.Next(background); d.err != nil {
				return
			}
			if over {
				t.Errorf("%d was drawn after Seal had returned", id)
				return
			}
			d.add(id, 1)
			if i == 50 {
				begun.Done()
			}
			if i%64 == 0 {
				runtime.Gosched() // otherwise the others begin late, and a round takes long
			}
		}
	})
	sealing.Wait()
	mustBeUnique(t, all)
	for _, d := range all {
		if !errors.Is(d.err, ErrSealed) {
			t.Errorf("a goroutine ended with %v", d.err)
		}
	}
}

package segment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestConnectionsThatNothingNeedsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		time.Sleep(time.Hour)
		if connections, fetches := of.used(); connections != 0 || fetches != 0 {
			t.Errorf("a source that nobody uses has %d connections and fetched %d times", connections, fetches)
		}
		r.mustDraw("order", 300)
		time.Sleep(2 * idleLimit)
		if connections, _ := of.used(); connections != 0 {
			t.Errorf("%d connections are open", connections)
		}
	})
}

func TestTagsThatDoNotExistTakeNoRoomForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		source, err := New(Settings{Open: func() Store { return &connection{table: of} }, MaxTags: 10})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go source.Run(ctx)
		defer synctest.Wait()
		defer cancel()
		r := &running{Source: source, t: t}
		r.look(of)
		for i := range 10 {
			if _, err := r.draw(fmt.Sprint("typo", i), 1); !errors.Is(err, ErrUnknownTag) {
				t.Errorf("error %v, expected %v", err, ErrUnknownTag)
			}
		}
		if _, err := r.draw("order", 1); !errors.Is(err, ErrTooManyTags) {
			t.Errorf("error %v, expected %v", err, ErrTooManyTags)
		}
		time.Sleep(refreshEvery)
		synctest.Wait()
		r.mustDraw("order", 1)
	})
}

func TestABlockedRowHoldsUpNoOtherTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order", "item")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		r.mustDraw("item", 1)
		of.do(func() { of.delay = time.Hour })
		r.mustDraw("order", 300)
		synctest.Wait() // its fetch is stuck
		of.do(func() { of.delay = 0 })
		r.mustDraw("item", 1900)
		synctest.Wait()
		r.mustDraw("item", 500)
	})
}

func TestSettingsAreChecked(t *testing.T) {
	if _, err := New(Settings{}); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("no store: error %v", err)
	}
	if _, err := New(Settings{Open: func() Store { return nil }, MaxTags: -1}); err == nil ||
		!strings.Contains(err.Error(), "-1") {
		t.Errorf("negative tags: error %v", err)
	}
}

func TestDrawingFromMemoryAllocatesNothing(t *testing.T) {
	of := newTable("order")
	of.rows["order"].step = maxBlock
	r := start(t, of)
	defer r.stop()
	tag := []byte("order")
	if _, _, err := r.NextN(t.Context(), tag, 1); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, count, err := r.TryNextN(tag, 1); count != 1 || err != nil {
			t.Fatal(count, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a number; expected none", n)
	}
}

func BenchmarkTryNextN(b *testing.B) {
	of := newTable("order")
	of.rows["order"].step = maxBlock
	source, err := New(Settings{Open: func() Store { return &connection{table: of} }})
	if err != nil {
		b.Fatal(err)
	}
	go source.Run(b.Context())
	tag := []byte("order")
	for b.Loop() {
		if _, _, err := source.NextN(b.Context(), tag, 1); err != nil {
			b.Fatal(err)
		}
	}
}

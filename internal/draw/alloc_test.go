package draw

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// endless gives 1, 2, 3, …
type endless struct{ last atomic.Int64 }

func (e *endless) TryNextN(n int) (int64, int, error) {
	return e.last.Add(int64(n)) - int64(n) + 1, n, nil
}

func (e *endless) NextN(_ context.Context, n int) (int64, int, error) { return e.TryNextN(n) }

func TestInvariant5ADrawThatDoesNotWaitAllocatesNothingAndStartsNoGoroutine(t *testing.T) {
	r := New(new(endless), func(time.Duration) int { return 10_000 })
	var runs Runs
	for _, n := range []int{1, Portion, 10_000} {
		if got := testing.AllocsPerRun(100, func() {
			if waited, err := r.Draw(t.Context(), patience, n, &runs); waited != 0 || err != nil {
				t.Error(waited, err)
			}
		}); got != 0 || r.stop != nil {
			t.Errorf("%d IDs: %v allocations, and a goroutine was started: %v", n, got, r.stop != nil)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	r := New(new(endless), func(time.Duration) int { return 10_000 })
	var runs Runs
	for _, c := range []struct {
		name string
		n    int
	}{{"one", 1}, {"portion", Portion}, {"reservation", 10_000}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Draw(b.Context(), patience, c.n, &runs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package trial

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// database is process 10 of the moments.
var database = map[string]int{Database: 10}

func TestATurnIsOverWhenTheProcessesThatCameWithItAreGone(t *testing.T) {
	for what, c := range map[string]struct {
		stats []map[int]procStat
		turn  Turn
		looks int
	}{
		"its backend ends after it": {
			[]map[int]procStat{torn, withOne, withOne, withOne, without},
			func(context.Context, time.Duration, Measure) (Count, error) { return Count{}, nil }, 5,
		},
		"it fails": {
			[]map[int]procStat{torn, withOne, withOne, without},
			func(context.Context, time.Duration, Measure) (Count, error) {
				return Count{}, errors.New("no such table")
			}, 4,
		},
		"a backend that was there before stays": {
			[]map[int]procStat{withOne},
			func(context.Context, time.Duration, Measure) (Count, error) { return Count{}, nil }, 2,
		},
	} {
		m := &moments{stats: c.stats, times: clocks}
		_, _ = m.system().measureCPU(t.Context(), c.turn, 0, database)
		if m.looks != c.looks {
			t.Errorf("%s: looked %d times; expected %d", what, m.looks, c.looks)
		}
	}
	m := &moments{stats: []map[int]procStat{torn, withOne}, times: clocks}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.system().lookAt(database).awaitLeaving(ctx) // returns although the backend stays, as with a pooler
}

func TestABackendThatComesAndGoesWithinTheMeasuredTimeIsInIt(t *testing.T) {
	// The looks: at the turn's begin, at the begin of the measured time, and twice for its clocks. Then the backend is
	// leaving, which takes 20 ms. Then it is gone.
	m := &moments{
		stats: slices.Concat(slices.Repeat([]map[int]procStat{torn}, 4), slices.Repeat([]map[int]procStat{withOne}, 3),
			[]map[int]procStat{without}),
		times: map[int]time.Duration{11: 280 * time.Millisecond},
	}
	count, err := m.system().measureCPU(t.Context(),
		func(_ context.Context, _ time.Duration, measure Measure) (Count, error) {
			return measure(func() (Count, error) { return Count{}, nil })
		}, 0, database)
	if err != nil || count.Spent[Database] != 300*time.Millisecond {
		t.Errorf("%v, error %v; expected the 300 ms of the backend", count.Spent, err)
	}
}

package node

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/draw"
	"pgflurry/internal/segment"
	"pgflurry/proxy"
)

func TestEachWantOfIDsHasItsName(t *testing.T) {
	layout := generator.DefaultLayout()
	var now atomic.Int64
	ids := draw.NewLate()
	var runs draw.Runs
	lacks := func(when string, expected proxy.Decline) {
		t.Helper()
		_, err := ids.Draw(t.Context(), 0, 1, &runs)
		if got := whyNot(err); err == nil || got != expected {
			t.Errorf("%s: %v, which is named %s; expected %s", when, err, got, expected)
		}
	}
	lacks("before the namespace is known", proxy.DeclineNoLease)
	if _, err := ids.Draw(t.Context(), 0, 100_000, &runs); !errors.Is(err, draw.ErrNoSource) {
		t.Errorf("before the namespace is known a draw of many fails with %v; expected %v", err, draw.ErrNoSource)
	}
	g, err := generator.New(generator.Settings{Layout: layout, Now: now.Load})
	if err != nil {
		t.Fatal(err)
	}
	ids.Supply(g, g.Has)
	lacks("before a worker is leased", proxy.DeclineNoLease)
	if n := g.Has(50 * time.Millisecond); n != 51*4096 {
		t.Errorf("50 ms have %d IDs; expected those of 51 ticks", n)
	}
	now.Store(1000)
	if err := g.Grant(1, 1000, 1010); err != nil {
		t.Fatal(err)
	}
	if _, err := ids.Draw(t.Context(), 0, 1, &runs); err != nil {
		t.Fatalf("with a worker there is no ID: %v", err)
	}
	now.Store(1010)
	lacks("at the mark", proxy.DeclineMark)
	now.Store(layout.MaxTick() + 1)
	lacks("behind the end of time", proxy.DeclineMark)
	g.Seal()
	lacks("at the end", proxy.DeclineNoLease)
}

func TestEachWantOfNumbersHasItsName(t *testing.T) {
	for err, expected := range map[error]proxy.Decline{
		segment.ErrUnknownTag:  proxy.DeclineNotAnswerable,
		segment.ErrExhausted:   proxy.DeclineNotAnswerable,
		segment.ErrTooManyTags: proxy.DeclineNotAnswerable,
		segment.ErrEnded:       proxy.DeclineNotAnswerable,
		segment.ErrResting:     proxy.DeclineTimeout,
	} {
		if got := whyNot(fmt.Errorf("tag %q: %w", "order", err)); got != expected {
			t.Errorf("%v is named %s; expected %s", err, got, expected)
		}
	}
}

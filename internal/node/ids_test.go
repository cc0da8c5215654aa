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
	var ids lateIDs
	lacks := func(when string, expected proxy.Decline) {
		t.Helper()
		_, n, err := ids.TryNextN(1)
		if got := whyNot(err); err == nil || n > 0 || got != expected {
			t.Errorf("%s: %d IDs and %v, which is named %s; expected %s", when, n, err, got, expected)
		}
	}
	lacks("before the namespace is known", proxy.DeclineNoLease)
	var runs draw.Runs
	room := draw.New(&ids, ids.has)
	if _, err := room.Draw(t.Context(), 0, 100_000, &runs); !errors.Is(err, errNoNamespace) {
		t.Errorf("before the namespace is known a draw of many fails with %v; expected %v", err, errNoNamespace)
	}
	g, err := generator.New(generator.Settings{Layout: layout, Now: now.Load})
	if err != nil {
		t.Fatal(err)
	}
	ids.generator.Store(g)
	lacks("before a worker is leased", proxy.DeclineNoLease)
	if n := ids.has(50 * time.Millisecond); n != 51*4096 {
		t.Errorf("50 ms have %d IDs; expected those of 51 ticks", n)
	}
	now.Store(1000)
	if err := g.Grant(1, 1000, 1010); err != nil {
		t.Fatal(err)
	}
	if _, n, err := ids.TryNextN(1); n != 1 || err != nil {
		t.Fatalf("with a worker there are %d IDs, %v", n, err)
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

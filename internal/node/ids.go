package node

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/segment"
	"pgflurry/proxy"
)

// lateIDs gives IDs as soon as the namespace is known, and with it the layout.
type lateIDs struct {
	generator atomic.Pointer[generator.Generator]
}

var errNoNamespace = errors.New("the namespace is not known yet")

func (l *lateIDs) TryNextN(n int) (first int64, count int, err error) {
	g := l.generator.Load()
	if g == nil {
		return 0, 0, errNoNamespace
	}
	return g.TryNextN(n)
}

func (l *lateIDs) NextN(ctx context.Context, n int) (first int64, count int, err error) {
	g := l.generator.Load()
	if g == nil {
		return 0, 0, errNoNamespace
	}
	return g.NextN(ctx, n)
}

// has returns how many IDs there are in a time.
func (l *lateIDs) has(d time.Duration) int {
	g := l.generator.Load()
	if g == nil {
		return math.MaxInt // so that a draw fails with errNoNamespace
	}
	return g.Has(d)
}

// whyNot names the error for which the proxy forwards a statement.
func whyNot(err error) proxy.Decline {
	switch {
	case errors.Is(err, generator.ErrGrantEnded), errors.Is(err, generator.ErrEndOfTime):
		return proxy.DeclineMark
	case errors.Is(err, segment.ErrUnknownTag), errors.Is(err, segment.ErrExhausted),
		errors.Is(err, segment.ErrTooManyTags), errors.Is(err, segment.ErrElsewhere), errors.Is(err, segment.ErrEnded):
		return proxy.DeclineNotAnswerable
	case errors.Is(err, segment.ErrResting):
		return proxy.DeclineTimeout
	}
	return proxy.DeclineNoLease
}

package node

import (
	"context"
	"errors"
	"sync/atomic"

	"pgflurry/generator"
)

// lateIDs gives IDs from the moment the namespace, and with it the layout, is known.
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

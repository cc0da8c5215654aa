package connect

import (
	"context"
	"errors"
	"os"
	"time"
)

// slowestLogin limits a login that others before it have shown to be slow: half of the longest window of a lease.
const slowestLogin = 30 * time.Second

// login is one login, in a goroutine of its own. It goes on when its caller has given up.
type login[C any] struct {
	began time.Duration
	seen  uint64 // suspicions before it began
	end   context.CancelFunc
	over  chan struct{} // closed at its end; then conn or err is set
	conn  C
	err   error
}

// beginLogin begins a login that ends after limit.
func beginLogin[C any](
	ctx context.Context, do func(context.Context) (C, error), limit, now time.Duration, seen uint64,
) *login[C] {
	l := &login[C]{began: now, seen: seen, over: make(chan struct{})}
	ctx, l.end = context.WithTimeout(ctx, limit)
	go func() {
		defer close(l.over)
		defer l.end()
		l.conn, l.err = do(ctx)
	}()
	return l
}

func (l *login[C]) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// stop ends it, and returns when it is over.
func (l *login[C]) stop() {
	l.end()
	<-l.over
}

// isLate says whether a login has failed because its time was over.
func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// A lateError says that a login has not ended yet. It goes on.
type lateError struct {
	to    string // as Explain says it
	cause error
}

func (e *lateError) Error() string {
	if errors.Is(e.cause, context.DeadlineExceeded) {
		return "cannot connect to " + e.to + ": no answer in time"
	}
	return e.cause.Error()
}

func (e *lateError) Unwrap() error { return e.cause }

package acknowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgflurry/internal/connect"
)

const (
	// longestAnswer is how long an answer is waited for: the longest window of a namespace by default. A later one
	// would be of no use.
	longestAnswer = time.Minute
	// mostLate is how many answers may be late at once. Each has a connection.
	mostLate = 4
)

// errLate is the cause of an outcome that is unknown for now.
var errLate = errors.New("no answer in time; it counts if it comes yet")

// asked is a write under way, in a goroutine of its own.
type asked struct {
	what any // the caller's name for it
	wire *wire
	age  connect.Age
	over context.Context // ends with the write; then row or err is set
	row  []value
	err  error
}

func (a *asked) isOver() bool { return a != nil && a.over.Err() != nil }

// abandon ends a write. Its outcome stays unknown.
func (a *asked) abandon() {
	_ = a.wire.conn.Close()
	<-a.over.Done()
}

// WriteOrLate is Write for a statement that may be sent again before its answer has come. If ctx ends without an
// answer, the connection stays open, and the answer may be that of a later call. Then the second result is the what of
// the call that asked. Meanwhile a later call asks over another connection. The first clean answer ends all others.
func (w *Writer) WriteOrLate(ctx context.Context, what any, sql string, params ...Param) (*Row, any, error) {
	var current *asked
	for {
		a := w.firstOver(current)
		switch {
		case a == nil && current == nil:
			asks, err := w.ask(ctx, what, sql, params)
			if current = asks; err != nil && (ctx.Err() != nil || w.firstOver(nil) == nil) {
				return nil, nil, err
			}
		case a == nil:
			select {
			case <-w.ends:
			case <-ctx.Done():
				w.putAside(current)
				return nil, nil, unknown(errLate)
			}
		case a.err == nil:
			w.settle(a, current)
			return &Row{values: a.row}, a.what, nil
		case a == current:
			w.kept.Broken(a.err)
			return nil, nil, unknown(a.err)
		default:
			w.forget(a)
		}
	}
}

// ask sends a write. If there is no connection yet, it waits for one until a late answer comes.
func (w *Writer) ask(ctx context.Context, what any, sql string, params []Param) (*asked, error) {
	login, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, a := range w.late {
		defer context.AfterFunc(a.over, cancel)()
	}
	wire, err := w.kept.Get(login)
	if err != nil {
		return nil, err
	}
	lock, _ := timeouts(ctx)
	over, ends := context.WithCancel(context.Background())
	a := &asked{what: what, wire: wire, over: over}
	go func() {
		during, end := context.WithTimeout(context.Background(), longestAnswer)
		defer end()
		_, whole := timeouts(during)
		a.row, a.err = wire.write(during, lock, whole, sql, params)
		ends()
		select {
		case w.ends <- struct{}{}:
		default: // somebody will look
		}
	}()
	return a, nil
}

// firstOver is the current write if its answer has come, or else one that was late; nil: none.
func (w *Writer) firstOver(current *asked) *asked {
	if current.isOver() {
		return current
	}
	if i := slices.IndexFunc(w.late, (*asked).isOver); i >= 0 {
		return w.late[i]
	}
	return nil
}

// putAside lets a write go on whose answer is late. If there are too many, the last of them ends: the first ones were
// asked before, and the next call asks again.
func (w *Writer) putAside(current *asked) {
	if len(w.late) == mostLate {
		w.forget(w.late[mostLate-1])
	}
	current.age = w.kept.Lend()
	w.late = append(w.late, current)
}

// settle keeps the connection that has answered, and ends all other writes.
func (w *Writer) settle(a, current *asked) {
	if w.late = slices.DeleteFunc(w.late, func(late *asked) bool { return late == a }); a != current {
		if current != nil {
			current.abandon()
		}
		w.kept.Return(a.wire, a.age)
	}
	w.forgetAll()
}

// forget ends a write whose answer is late.
func (w *Writer) forget(a *asked) {
	a.abandon()
	w.late = slices.DeleteFunc(w.late, func(late *asked) bool { return late == a })
}

// forgetAll ends all of them.
func (w *Writer) forgetAll() {
	for len(w.late) > 0 {
		w.forget(w.late[0])
	}
}

// unknown is the error of a write that was not cleanly acknowledged.
func unknown(err error) error {
	if blocked(err) {
		err = fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	return fmt.Errorf("outcome unknown: %w", err)
}

package logs

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueRoom limits the bytes of lines in the queue, which is some 5,000 lines.
	queueRoom = 1 << 20
	// LastLines is how long the program waits at its end for the reader of the log.
	LastLines = time.Second
)

// A Queue decouples sessions and the program's end from a slow reader of the log. One goroutine writes the lines in
// order. When the queue is full it drops new lines until all waiting lines are written. So all dropped lines are in one
// place, and one line there says how many they are.
type Queue struct {
	out      io.Writer
	unqueued *slog.Logger  // writes to out
	lost     atomic.Int64  // dropped lines since the start
	ended    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	news    *sync.Cond // the fields below have changed
	waiting [][]byte
	size    int   // bytes in the queue
	gap     int64 // lines dropped behind those in the queue
	ending  bool
}

// Queued is a logger with a Queue in front of out. The caller has to call End.
func Queued(out io.Writer, handler func(io.Writer) slog.Handler) (*slog.Logger, *Queue) {
	q := newQueue(out, slog.New(handler(out)))
	return slog.New(handler(q)), q
}

// NewQueue is a Queue for plain text, in which no line says how much is lost. The caller has to call End.
func NewQueue(out io.Writer) *Queue {
	return newQueue(out, slog.New(slog.DiscardHandler))
}

func newQueue(out io.Writer, unqueued *slog.Logger) *Queue {
	q := &Queue{out: out, unqueued: unqueued, ended: make(chan struct{})}
	q.news = sync.NewCond(&q.mu)
	go q.run()
	return q
}

// Write queues one line, or drops it. It never fails.
func (q *Queue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gap > 0 || q.size+len(line) > queueRoom {
		q.gap++
		q.lost.Add(1)
	} else {
		q.waiting = append(q.waiting, bytes.Clone(line))
		q.size += len(line)
	}
	q.news.Signal()
	return len(line), nil
}

// Lost is the number of dropped lines since the start.
func (q *Queue) Lost() int64 {
	return q.lost.Load()
}

// next waits for the next thing to write: a line, or the number of dropped lines behind the last line. Neither means
// the end.
func (q *Queue) next() (line []byte, gap int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && q.gap == 0 && !q.ending {
		q.news.Wait()
	}
	if len(q.waiting) > 0 {
		line, q.waiting = q.waiting[0], q.waiting[1:]
		q.size -= len(line)
		return line, 0
	}
	gap, q.gap = q.gap, 0
	return nil, gap
}

func (q *Queue) run() {
	defer close(q.ended)
	for {
		switch line, gap := q.next(); {
		case line != nil:
			if _, err := q.out.Write(line); err != nil {
				q.lost.Add(1) // nothing more can be done: nobody reads
			}
		case gap > 0:
			q.unqueued.Error("lines of this log are lost: its reader was too slow", "lines", gap)
		default:
			return
		}
	}
}

// End waits until all lines are written, at most for LastLines. If the reader still blocks, the goroutine stays blocked
// until the process ends.
func (q *Queue) End() {
	q.mu.Lock()
	q.ending = true
	q.news.Signal()
	q.mu.Unlock()
	late := time.NewTimer(LastLines)
	defer late.Stop()
	select {
	case <-q.ended:
	case <-late.C:
	}
}

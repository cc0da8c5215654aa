package main

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueRoom limits the bytes of lines in the queue, which is some 5,000 lines.
	queueRoom = 1 << 20
	// lastLines is how long the program waits at its end for the reader of the log.
	lastLines = time.Second
)

// A logQueue decouples sessions and the program's end from a slow reader of the log. One goroutine writes the lines in
// order. When the queue is full it drops new lines until all waiting lines are written. So all dropped lines are in one
// place, and one line there says how many they are.
type logQueue struct {
	out   io.Writer
	tell  func(lost int64) // writes the number of dropped lines to out
	lost  atomic.Int64     // dropped lines since the start
	ended chan struct{}    // closed when the goroutine has ended

	mu      sync.Mutex
	news    *sync.Cond // the fields below have changed
	waiting [][]byte
	size    int   // bytes in the queue
	gap     int64 // lines dropped behind those in the queue
	ending  bool
}

// newLogQueue starts the goroutine. The caller has to call end.
func newLogQueue(out io.Writer, tell func(lost int64)) *logQueue {
	q := &logQueue{out: out, tell: tell, ended: make(chan struct{})}
	q.news = sync.NewCond(&q.mu)
	go q.run()
	return q
}

// Write queues one line, or drops it. It never fails.
func (q *logQueue) Write(line []byte) (int, error) {
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

// next waits for the next thing to write: a line, or the number of dropped lines behind the last line. Neither means
// the end.
func (q *logQueue) next() (line []byte, gap int64) {
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

func (q *logQueue) run() {
	defer close(q.ended)
	for {
		switch line, gap := q.next(); {
		case line != nil:
			if _, err := q.out.Write(line); err != nil {
				q.lost.Add(1) // nothing more can be done: nobody reads
			}
		case gap > 0:
			q.tell(gap)
		default:
			return
		}
	}
}

// end waits until all lines are written, at most for lastLines. If the reader still blocks, the goroutine stays blocked
// until the process ends.
func (q *logQueue) end() {
	q.mu.Lock()
	q.ending = true
	q.news.Signal()
	q.mu.Unlock()
	late := time.NewTimer(lastLines)
	defer late.Stop()
	select {
	case <-q.ended:
	case <-late.C:
	}
}

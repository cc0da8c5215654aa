package main

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueRoom is how many bytes of lines wait for their reader at most: some 5,000 lines.
	queueRoom = 1 << 20
	// lastLines is how long the end of the program waits for a reader.
	lastLines = time.Second
)

// A logQueue writes lines and never lets anybody wait for their reader: not sessions, and not the program's end. One
// goroutine writes, in order. What finds the queue full is lost. From then on all is lost until the lines that wait
// are written, and so one line can say how many are missing at its place.
type logQueue struct {
	out   io.Writer
	tell  func(lost int64) // writes a line about lost ones to out
	lost  atomic.Int64     // lines, since the start
	ended chan struct{}    // closed when the goroutine has ended

	mu      sync.Mutex
	news    *sync.Cond // of the fields below
	waiting [][]byte
	size    int   // bytes that wait
	gap     int64 // lines lost behind those that wait
	ending  bool
}

// newLogQueue starts the goroutine. Its end is end.
func newLogQueue(out io.Writer, tell func(lost int64)) *logQueue {
	q := &logQueue{out: out, tell: tell, ended: make(chan struct{})}
	q.news = sync.NewCond(&q.mu)
	go q.run()
	return q
}

// Write takes one line, or loses it. It never fails.
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

// next waits for what is to be written: a line, or the number of those lost behind the last one. Neither is the end.
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
				q.lost.Add(1) // whoever would be told reads no more
			}
		case gap > 0:
			q.tell(gap)
		default:
			return
		}
	}
}

// end waits until everything is written, but not longer than lastLines. Then nobody reads, and the goroutine stays
// where it waits until the process ends.
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

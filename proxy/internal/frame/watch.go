package frame

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// watch looks at a write that has to wait for the peer. A peer may let it wait as long as it likes, unless over says
// that nobody needs the write any more. Without a wait it costs nothing.
type watch struct {
	conn  net.Conn
	every time.Duration
	over  func() bool
	timer *time.Timer  // runs look while a write waits; nil before the first wait
	state atomic.Int64 // idle, begun, or begun+1 and how many bytes the peer had not taken at the last look
}

const (
	idle  = 0 // no write waits
	begun = 1 // a write waits, and no look has seen it yet
)

// GiveUp makes w end a write if the peer takes nothing for that long and over then says so. While the peer takes
// nothing, over is called again and again, by a goroutine of its own. GiveUp must come before the first write.
func (w *Writer) GiveUp(every time.Duration, over func() bool) {
	w.watch = &watch{conn: w.conn, every: every, over: over}
	if o, plain := w.out.(*outlet); plain {
		o.wait = w.watch.wait
	}
}

// write writes b, and watches whether that has to wait. A connection without a descriptor does not tell, so there every
// write counts as one that waits.
func (w *watch) write(to io.Writer, b []byte) (n int, err error) {
	if w == nil {
		return to.Write(b)
	}
	if _, plain := to.(*outlet); plain {
		n, err = to.Write(b)
	} else {
		for n < len(b) && err == nil {
			w.wait()
			var m int
			m, err = to.Write(b[n:min(n+BufferSize, len(b))])
			n += m
		}
	}
	if w.state.Load() != idle {
		w.state.Store(idle)
		w.timer.Stop()
	}
	return n, err
}

// wait begins a wait, or begins it anew after the peer has taken something.
func (w *watch) wait() {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.every, w.look)
	}
	w.state.Store(begun)
	w.timer.Reset(w.every)
}

// look ends the write if the peer has taken nothing since the last look.
func (w *watch) look() {
	before := w.state.Load()
	now := begun + 1 + int64(unsent(w.conn))
	switch {
	case before == idle:
	case before == now && w.over():
		_ = w.conn.SetWriteDeadline(longAgo)
	case w.state.CompareAndSwap(before, now): // else the write went on, and has its own look to come
		w.timer.Reset(w.every)
		if w.state.Load() == idle {
			w.timer.Stop()
		}
	}
}

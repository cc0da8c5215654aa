package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// farewellTime is how long the proxy tries to tell a client why it is sent away.
const farewellTime = time.Second

// writer is the one way to a client: whole messages, one writer at a time. Both goroutines of a session use it.
type writer struct {
	conn net.Conn
	to   io.Writer // conn, or an outlet to it
	mu   sync.Mutex
	torn bool // a write failed, perhaps in the middle of a message: nothing can follow it
}

func newWriter(conn net.Conn) writer { return writer{conn: conn, to: newOutlet(conn)} }

// errTornWriter: the client has had its last message.
var errTornWriter = errors.New("nothing can be written to the client any more")

func (w *writer) write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		return errTornWriter
	}
	_, err := w.to.Write(b)
	w.torn = w.torn || err != nil
	return err
}

// do runs f with the client's side to itself. f writes whole messages, or fails.
func (w *writer) do(f func(io.Writer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		return errTornWriter
	}
	err := f(w.to)
	w.torn = w.torn || err != nil
	return err
}

// idle says that nothing is being written.
func (w *writer) idle() bool {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	return !w.torn
}

// farewell writes a FATAL, the last message the client gets.
func (w *writer) farewell(code failure) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(farewellTime)) // also ends a write that holds the lock
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.torn {
		_, _ = w.to.Write(fatalMessage(code))
		w.torn = true
	}
}

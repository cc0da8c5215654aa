package frame

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// FarewellTime is the longest time for telling a client why its session ends.
const FarewellTime = time.Second

// Writer is the only way to write to a client: whole messages, one writer at a time. Its methods are safe for
// concurrent use.
type Writer struct {
	conn    net.Conn
	out     io.Writer // conn, or an outlet to it
	mu      sync.Mutex
	torn    bool // a write failed, perhaps in the middle of a message, so nothing can follow
	written atomic.Int64
	// watch ends a write that nobody waits for any more (GiveUp); nil: none.
	watch *watch
}

// NewWriter writes to conn. Nothing else may write to conn.
func NewWriter(conn net.Conn) *Writer { return &Writer{conn: conn, out: NewOutlet(conn)} }

// Written is how many bytes conn has taken. It does not wait for a writer.
func (w *Writer) Written() int64 { return w.written.Load() }

// WriteError is a failed write to a Writer's client. A function that Do runs may fail for other reasons.
type WriteError struct{ Cause error }

func (e WriteError) Error() string { return "write to the client: " + e.Cause.Error() }
func (e WriteError) Unwrap() error { return e.Cause }

// marked writes to conn for a Writer. It counts the bytes, and turns each error into a WriteError.
type marked Writer

func (m *marked) Write(b []byte) (int, error) {
	n, err := m.watch.write(m.out, b)
	m.written.Add(int64(n))
	if err != nil {
		err = WriteError{err}
	}
	return n, err
}

// ErrTorn means that the client has had its last message.
var ErrTorn = errors.New("nothing can be written to the client any more")

// Write writes whole messages. It may fail in the middle of one. After an error it returns only ErrTorn.
func (w *Writer) Write(messages []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		return ErrTorn
	}
	_, err := (*marked)(w).Write(messages)
	w.torn = w.torn || err != nil
	return err
}

// Do runs f as the only writer to the client. f writes whole messages, or fails. After an error Do returns only
// ErrTorn.
func (w *Writer) Do(f func(io.Writer) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		return ErrTorn
	}
	err := f((*marked)(w))
	w.torn = w.torn || err != nil
	return err
}

// Idle says that nobody is writing, and that a write is possible.
func (w *Writer) Idle() bool {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	return !w.torn
}

// Farewell writes the client's last message, unless nothing can be written any more. It takes at most FarewellTime, and
// ends a write that takes longer.
func (w *Writer) Farewell(message []byte) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(FarewellTime)) // also ends a write that holds the lock
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.torn {
		_, _ = (*marked)(w).Write(message)
		w.torn = true
	}
}

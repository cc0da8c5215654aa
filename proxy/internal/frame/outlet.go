package frame

import (
	"io"
	"net"
	"syscall"
)

// outlet writes to a connection through its descriptor, without the scheduler (frame_unix.go). Only one goroutine at a
// time may use it.
type outlet struct {
	raw  syscall.RawConn
	left []byte
	n    int
	err  error
	try  func(descriptor uintptr) (done bool) // tryWrite, bound once
	wait func()                               // runs before each wait for the peer; nil: nothing
}

// NewOutlet returns a writer to conn through its descriptor, or conn itself if that has none of its own, as with TLS.
// Write returns when all is written, or no more can be. A write deadline and a Close of conn end it. One goroutine at a
// time may write.
func NewOutlet(conn net.Conn) io.Writer {
	raw := descriptorOf(conn)
	if raw == nil {
		return conn
	}
	o := &outlet{raw: raw}
	o.try = o.tryWrite
	return o
}

// Write returns when all of b is written, or no more can be.
func (o *outlet) Write(b []byte) (int, error) {
	o.left, o.n, o.err = b, 0, nil
	err := o.raw.Write(o.try)
	o.left = nil
	if o.err != nil {
		err = o.err
	}
	return o.n, err
}

//go:build unix

package frame

import (
	"io"
	"net"
	"syscall"
)

// Go's descriptors do not block: a read or a write returns at once, with nothing done if it would have to wait. So the
// scheduler need not be told of them (readNow, writeNow), which it takes as a hint that others should have this
// processor. On a busy machine that costs more than the call.

// descriptorOf is nil where conn has none of its own, as with TLS.
func descriptorOf(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// mostReads is how often readReady reads without a wait:
// only between two of its calls is it noticed that conn was closed.
const mostReads = 16

// readReady reads from the descriptor if that is possible now; false asks to be called again when it is. Within Each it
// goes on for as long as it need not wait: take, read, take.
func (in *Inbox) readReady(descriptor uintptr) bool {
	for range mostReads {
		in.makeRoom()
		in.read(descriptor)
		if in.err == syscall.EAGAIN {
			return false
		}
		if in.err != nil || in.takes == nil {
			return true
		}
		if in.refused = in.takes(); in.refused != nil {
			return true
		}
	}
	return true
}

// read reads once, and gives an empty buffer back where nothing came.
func (in *Inbox) read(descriptor uintptr) {
	if in.buf == nil {
		in.buf = in.buffers.get(in.busy)
	}
	room := in.buf[in.end:]
	if in.inside > 0 && len(in.buf) == WideSize {
		room = room[:min(in.inside, len(room))]
	}
	n, err := readNow(descriptor, room)
	for err == syscall.EINTR {
		n, err = readNow(descriptor, room)
	}
	if err == 0 && n > 0 {
		in.end += n
		in.busy = in.widens && n >= min(len(room), BufferSize)
		in.err = nil
		return
	}
	if in.end == 0 && in.inside == 0 {
		in.release()
	}
	in.err = err
	if err == 0 {
		in.err = io.EOF
	}
}

// tryWrite writes what the descriptor takes now; false asks to be called again when it takes more.
func (o *outlet) tryWrite(descriptor uintptr) bool {
	for len(o.left) > 0 {
		n, err := writeNow(descriptor, o.left)
		switch err {
		case 0:
			o.n += n
			o.left = o.left[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			o.err = err
			return true
		}
	}
	return true
}

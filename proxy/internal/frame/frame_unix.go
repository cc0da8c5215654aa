//go:build unix

package frame

import (
	"io"
	"net"
	"syscall"
)

// Go's descriptors do not block: a read or write that would have to wait returns at once, with nothing done. So readNow
// and writeNow need not go through the scheduler (syscall_raw.go). A plain system call announces itself to the
// scheduler, which may then give this processor to another goroutine. On a busy machine that costs more than the call.

// descriptorOf is nil if conn has no descriptor of its own, as with TLS.
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

// mostReads is how often readReady reads without a wait. Only between two calls of readReady can it notice that conn
// was closed.
const mostReads = 16

// readReady reads from the descriptor if it can do so now. It returns false to be called again when it can. Within Each
// it continues while it need not wait: take, read, take.
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

// read reads once. If nothing came, it gives back an empty buffer.
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

// tryWrite writes as much as the descriptor takes now. It returns false to be called again when that takes more.
func (o *outlet) tryWrite(descriptor uintptr) bool {
	for len(o.left) > 0 {
		n, err := writeNow(descriptor, o.left)
		switch err {
		case 0:
			o.n += n
			o.left = o.left[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			if o.wait != nil {
				o.wait()
			}
			return false
		default:
			o.err = err
			return true
		}
	}
	return true
}

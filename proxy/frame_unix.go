//go:build unix

package proxy

import (
	"io"
	"syscall"
)

const canWaitWithoutBuffer = true

// readReady reads from the descriptor if that is possible now; false asks to be called again when it is.
func (in *inbox) readReady(descriptor uintptr) bool {
	buffer := in.buffers.Get().(*[bufferSize]byte)
	n, err := syscall.Read(int(descriptor), buffer[:])
	for err == syscall.EINTR {
		n, err = syscall.Read(int(descriptor), buffer[:])
	}
	if n > 0 {
		in.buf, in.end, in.err = buffer[:], n, nil
		return true
	}
	in.buffers.Put(buffer)
	switch err {
	case syscall.EAGAIN:
		return false
	case nil:
		in.err = io.EOF
	default:
		in.err = err
	}
	return true
}

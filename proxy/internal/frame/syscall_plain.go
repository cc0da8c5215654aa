//go:build unix && (!linux || race || !(amd64 || arm64))

package frame

import "syscall"

// Here the calls go through the scheduler, for one of three reasons. Other systems have stable calls only in their C
// library. Some processors reach the socket calls in another way. The race detector follows the order of events on a
// socket only through syscall.Read and syscall.Write.

func readNow(descriptor uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Read(int(descriptor), b)
	return n, errno(err)
}

func writeNow(descriptor uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(descriptor), b)
	return n, errno(err)
}

func errno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return syscall.EIO
}

//go:build unix && (!linux || race || !(amd64 || arm64))

package frame

import "syscall"

// Here the scheduler is told after all. Other systems have no stable calls but those of their C library. Some
// processors reach those of sockets in another way. The race detector sees what is ordered by a socket only if
// syscall.Read and syscall.Write are used.

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

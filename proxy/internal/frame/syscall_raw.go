//go:build linux && !race && (amd64 || arm64)

package frame

import (
	"syscall"
	"unsafe"
)

// All descriptors here are sockets. For them these calls are a tenth of a microsecond faster than read and write.

func readNow(descriptor uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(syscall.SYS_RECVFROM, descriptor, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), 0, 0, 0)
	return int(n), err
}

func writeNow(descriptor uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(syscall.SYS_SENDTO, descriptor, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), err
}

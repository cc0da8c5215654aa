//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// checkListens refuses a socket on which nobody has called listen: accept would fail for ever.
func checkListens(file *os.File) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	listens := 0
	if failed := raw.Control(func(fd uintptr) {
		listens, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	}); failed != nil {
		return failed
	}
	if err == nil && listens == 0 {
		err = errors.New("it is bound, but does not listen")
	}
	return err
}

//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endBy ends the process by the default action of a signal.
func endBy(s os.Signal) {
	signal.Reset()
	_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
}

// hangUp sends SIGHUP to another process.
func hangUp(pid int) error { return syscall.Kill(pid, syscall.SIGHUP) }

// awaitHangups gives each SIGHUP until stop is called.
func awaitHangups() (hangups <-chan os.Signal, stop func()) {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	return received, func() {
		signal.Stop(received)
		close(received)
	}
}

//go:build !unix

package main

import (
	"errors"
	"os"
)

// endBy ends the process: this system lets no process send itself a signal.
func endBy(os.Signal) { os.Exit(1) }

// hangUp fails.
func hangUp(int) error { return errors.New("this system has no SIGHUP") }

// awaitHangups never gives anything: this system has no SIGHUP.
func awaitHangups() (hangups <-chan os.Signal, stop func()) {
	none := make(chan os.Signal)
	close(none)
	return none, func() {}
}

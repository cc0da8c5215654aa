//go:build !unix

package main

import "os"

// endBy ends the process: here it cannot send itself a signal.
func endBy(os.Signal) { os.Exit(1) }

// awaitHangups: here there is no SIGHUP.
func awaitHangups() (hangups <-chan os.Signal, stop func()) {
	none := make(chan os.Signal)
	close(none)
	return none, func() {}
}

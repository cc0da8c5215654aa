//go:build !linux

package server

// memory returns no folder: this system has none that is known to be in memory.
func memory() string { return "" }

//go:build !windows

package connstring

import "syscall"

// ConnectionRefused is the error of a connection to an address where nothing listens.
const ConnectionRefused = syscall.ECONNREFUSED

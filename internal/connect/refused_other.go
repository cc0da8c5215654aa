//go:build !windows

package connect

import "syscall"

// connectionRefused is the error of a connection to an address where nothing listens.
const connectionRefused = syscall.ECONNREFUSED

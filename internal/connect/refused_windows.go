package connect

import "syscall"

// connectionRefused is the error of a connection to an address where nothing listens: WSAECONNREFUSED. Package syscall
// has no name for it.
const connectionRefused = syscall.Errno(10061)

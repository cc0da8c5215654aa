package connstring

import "syscall"

// connectionRefused is the error of a connection to an address where nothing listens: WSAECONNREFUSED, to which package
// syscall gives no name.
const connectionRefused = syscall.Errno(10061)

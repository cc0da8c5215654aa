package connstring

import "syscall"

// ConnectionRefused is the error of a connection to an address where nothing listens: WSAECONNREFUSED, to which package
// syscall gives no name.
const ConnectionRefused = syscall.Errno(10061)

//go:build !unix

package node

import "syscall"

// closedToOthers does nothing: sockets have no mode here.
func closedToOthers(string, string, syscall.RawConn) error { return nil }

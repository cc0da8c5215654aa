//go:build !unix

package frame

import (
	"net"
	"syscall"
)

// descriptorOf is always nil here: everything goes through the net.Conn, and an inbox keeps its buffer while it waits.
func descriptorOf(net.Conn) syscall.RawConn { return nil }

func (in *Inbox) readReady(uintptr) bool { return true }
func (o *outlet) tryWrite(uintptr) bool  { return true }

//go:build !linux

package frame

import (
	"net"
	"syscall"
)

// Other systems do not watch for ends: before each wait the inbox reads until nothing comes.
type (
	hangups struct{}
	hangup  struct{}
)

func (*hangup) mayWait() bool                             { return false }
func (*hangups) enter(*hangup, net.Conn, syscall.RawConn) {}
func (*hangups) leave(*hangup)                            {}

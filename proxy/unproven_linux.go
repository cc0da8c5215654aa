package proxy

import (
	"net"
	"syscall"
)

// isOwnAccount says whether the process at the other end of a Unix socket runs as the account of this one.
func isOwnAccount(conn net.Conn) bool {
	socket, is := conn.(*net.UnixConn)
	if !is {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	own := false
	err = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		own = err == nil && isOwn(peer.Uid)
	})
	return err == nil && own
}

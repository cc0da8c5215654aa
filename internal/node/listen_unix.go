//go:build unix

package node

import "syscall"

// closedToOthers is for net.ListenConfig. It lets nobody else connect before the socket has its mode. Linux takes the
// mode of the file from that of the unbound socket, and other systems ignore this.
func closedToOthers(_, _ string, conn syscall.RawConn) error {
	return conn.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}

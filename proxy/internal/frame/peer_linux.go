package frame

import (
	"net"

	"golang.org/x/sys/unix"
)

// Ended says whether the peer has ended the connection, even where a read would find that only behind other bytes. The
// kernel knows it once the end has arrived. It has not while the peer's last bytes wait for room in this side's buffer.
func Ended(conn net.Conn) (ended bool) {
	onSocket(conn, func(descriptor int) {
		polled := []unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(polled, 0)
		ended = err == nil && n > 0
	})
	return ended
}

// unsent is how many bytes of what was written to the connection its peer has not taken yet.
func unsent(conn net.Conn) (bytes int) {
	onSocket(conn, func(descriptor int) {
		bytes, _ = unix.IoctlGetInt(descriptor, unix.TIOCOUTQ)
	})
	return bytes
}

// onSocket runs f with the descriptor of the connection, or of the one beneath its TLS.
func onSocket(conn net.Conn, f func(descriptor int)) {
	for {
		above, wrapped := conn.(interface{ NetConn() net.Conn })
		if !wrapped {
			break
		}
		conn = above.NetConn()
	}
	if raw := descriptorOf(conn); raw != nil {
		_ = raw.Control(func(descriptor uintptr) { f(int(descriptor)) })
	}
}

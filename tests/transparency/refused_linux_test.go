package transparency

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// refused says that the other side of a connection takes no more. It closed its window, the kernel has since asked it
// for room (a zero-window probe), and there was none.
func refused(t *testing.T, conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Error(err)
		return true
	}
	var info *unix.TCPInfo
	if e := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); e != nil || err != nil {
		t.Errorf("TCP_INFO: %v, %v", e, err)
		return true
	}
	return info.Backoff > 0
}

package relay

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// refused says whether the other side of a connection takes no more. Its window is closed, and the kernel has since
// probed for room (a zero-window probe) in vain.
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

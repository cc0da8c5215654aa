package doctor

import (
	"net"
	"net/netip"
)

// loopback reports whether an address is on this machine.
func loopback(at net.Addr) bool {
	port, err := netip.ParseAddrPort(at.String())
	return err == nil && port.Addr().Unmap().IsLoopback()
}

package admission

import (
	"net"
	"net/netip"
)

// networkBits is how much of an IPv6 address counts. One machine usually has all addresses of such a network.
const networkBits = 64

// Origin tells clients apart in limits per address: a client's address, or for IPv6 its network. Unix sockets, and
// connections without an address, share the zero value.
func Origin(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = networkBits
	}
	from, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return from
}

// Package origin says where a client comes from, as far as limits on strangers tell clients apart.
package origin

import (
	"net"
	"net/netip"
)

// networkBits is how much of an IPv6 address counts: one machine has all addresses below a network of that size.
const networkBits = 64

// Of is a client's address; of IPv6 its network. Unix sockets and what has no address share the zero value.
func Of(a net.Addr) netip.Prefix {
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

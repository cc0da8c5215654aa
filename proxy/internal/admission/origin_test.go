package admission

import (
	"net"
	"net/netip"
	"testing"
)

func TestAnOriginIsAnAddressOrANetworkOfIPv6(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7/32",
		"::ffff:192.0.2.7":     "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::1":      "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
	} {
		ip := netip.MustParseAddr(address)
		if got := Origin(&net.TCPAddr{IP: ip.AsSlice(), Port: 5, Zone: ip.Zone()}); got.String() != want {
			t.Errorf("%s is of %v; expected %s", address, got, want)
		}
	}
	if got := Origin(&net.UnixAddr{Name: "@", Net: "unix"}); got != (netip.Prefix{}) || got != Origin(nil) {
		t.Errorf("a Unix socket is of %v; expected what has no address", got)
	}
}

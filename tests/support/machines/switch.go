//go:build linux

package machines

import (
	"fmt"
)

const (
	clientName    = "client"
	clientAddress = "10.93.0.254"
)

// makeSwitch makes the network of the world. The tests have an address of their own in it.
//
// The switch has the rules. So a cut changes no setting of a machine and survives its crash. No sender can see it,
// because the packet has left the machine.
func makeSwitch() error {
	err := ipBatch("link set lo up",
		"link add switch type bridge",
		"link set switch address "+hardware(254),
		"addr add "+clientAddress+"/24 dev switch",
		"link set switch up")
	if err != nil {
		return err
	}
	// Every packet passes at least one of the two chains. Packets from machines pass the first, all others the second.
	return nft("table bridge switch {",
		"set cuts { type ipv4_addr . ipv4_addr; }", // from . to
		"set off { type ifname; }",                 // it sends and receives nothing, not even ARP
		"chain arriving { type filter hook prerouting priority 0;",
		"iifname @off drop; ip saddr . ip daddr @cuts drop; }",
		"chain leaving { type filter hook postrouting priority 0;",
		"oifname @off drop; ip saddr . ip daddr @cuts drop; }",
		"}")
}

// hardware is the MAC address of the host with this number. It stays the same after a boot, because others cache it.
func hardware(number int) string { return fmt.Sprintf("02:00:0a:5d:00:%02x", number) }

// Cut drops all packets from one machine to another, also of open connections. The other direction stays open. "client"
// is the machine of the tests.
func (w *World) Cut(from, to string) {
	w.t.Helper()
	w.nft(fmt.Sprintf("add element bridge switch cuts { %s . %s }", w.address(from), w.address(to)))
}

// Part cuts both directions between each machine of the first list and each of the second.
func (w *World) Part(some, others []string) {
	w.t.Helper()
	var cuts []string
	for _, one := range some {
		for _, other := range others {
			a, b := w.address(one), w.address(other)
			cuts = append(cuts, fmt.Sprintf("add element bridge switch cuts { %s . %s, %s . %s }", a, b, b, a))
		}
	}
	w.nft(cuts...)
}

// Heal removes all cuts.
func (w *World) Heal() {
	w.t.Helper()
	w.nft("flush set bridge switch cuts")
}

func (w *World) nft(commands ...string) {
	w.t.Helper()
	if err := nft(commands...); err != nil {
		w.t.Fatal(err)
	}
}

// unplug makes the machine's cable carry nothing. plug makes it work again.
func (m *Machine) unplug() {
	m.w.t.Helper()
	m.w.nft("add element bridge switch off { " + m.name + " }")
}

// plug also works on a machine that is not unplugged.
func (m *Machine) plug() {
	m.w.t.Helper()
	element := "element bridge switch off { " + m.name + " }"
	m.w.nft("add "+element, "delete "+element)
}

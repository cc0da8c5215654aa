//go:build linux

package machines

import (
	"fmt"
)

const (
	clientName    = "client"
	clientAddress = "10.93.0.254"
)

// makeSwitch makes the network of the world, on which the tests have an address of their own.
//
// The rules are the switch's. So a cut takes nothing from a machine's own settings, survives its crash, and no sender
// can see it: the packet has left.
func makeSwitch() error {
	err := ipBatch("link set lo up",
		"link add switch type bridge",
		"link set switch address "+hardware(254),
		"addr add "+clientAddress+"/24 dev switch",
		"link set switch up")
	if err != nil {
		return err
	}
	// Every packet passes one of the two chains at least: what machines send passes the first, the rest the second.
	return nft("table bridge switch {",
		"set cuts { type ipv4_addr . ipv4_addr; }", // from . to
		"set off { type ifname; }",                 // sends and receives nothing, ARP included
		"chain arriving { type filter hook prerouting priority 0;",
		"iifname @off drop; ip saddr . ip daddr @cuts drop; }",
		"chain leaving { type filter hook postrouting priority 0;",
		"oifname @off drop; ip saddr . ip daddr @cuts drop; }",
		"}")
}

// hardware is the MAC address of the host with this number, the same after each boot: others keep it in mind.
func hardware(number int) string { return fmt.Sprintf("02:00:0a:5d:00:%02x", number) }

// Cut lets the packets from one machine to another vanish, also of open connections. The other direction stays.
// "client" is the machine of the tests.
func (w *World) Cut(from, to string) {
	w.t.Helper()
	w.nft(fmt.Sprintf("add element bridge switch cuts { %s . %s }", w.address(from), w.address(to)))
}

// Part cuts both directions between each of some and each of the others.
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

// Heal takes back all cuts.
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

// unplug lets the machine's cable carry nothing, and plug lets it carry again.
func (m *Machine) unplug() {
	m.w.t.Helper()
	m.w.nft("add element bridge switch off { " + m.name + " }")
}

// plug is also for a machine that is not unplugged.
func (m *Machine) plug() {
	m.w.t.Helper()
	element := "element bridge switch off { " + m.name + " }"
	m.w.nft("add "+element, "delete "+element)
}

package admission

import (
	"net/netip"
	"testing"
	"time"
)

var (
	hereOrigin  = netip.MustParsePrefix("192.0.2.1/32")
	thereOrigin = netip.MustParsePrefix("192.0.2.2/32")
)

// giveUp is how long a test waits before it fails.
const giveUp = 10 * time.Second

// people enters a limit, and records who had to give way.
type people struct {
	t     *testing.T
	limit *Limit
	away  []string
}

func (p *people) enters(name string, from netip.Prefix, expected bool) *Slot {
	p.t.Helper()
	m := p.limit.Enter(from, func() { p.away = append(p.away, name) })
	if (m != nil) != expected {
		p.t.Errorf("%s gets a slot: %v; expected %v", name, m != nil, expected)
	}
	return m
}

func (p *people) wereSentAway(names ...string) {
	p.t.Helper()
	if len(p.away) != len(names) {
		p.t.Fatalf("%q were sent away; expected %q", p.away, names)
	}
	for i, name := range names {
		if p.away[i] != name {
			p.t.Errorf("%q were sent away; expected %q", p.away, names)
		}
	}
}

func TestTheAddressWithMostMembersGivesWay(t *testing.T) {
	p := people{t: t, limit: newLimit(3, 0, time.Hour, nil)}
	p.enters("other", thereOrigin, true)
	first := p.enters("first", hereOrigin, true)
	p.enters("second", hereOrigin, true)
	p.enters("third", hereOrigin, false) // its own address has the most members
	p.wereSentAway()
	p.enters("newcomer", netip.MustParsePrefix("2001:db8::/64"), true)
	p.wereSentAway("first")
	p.limit.Leave(first) // it leaves after it had to give way
	p.enters("another", netip.MustParsePrefix("192.0.2.3/32"), false)
	if p.limit.count != 3 {
		t.Errorf("%d have slots; expected 3", p.limit.count)
	}
}

func TestWhoHasHadHisTimeGivesWay(t *testing.T) {
	p := people{t: t, limit: newLimit(2, 0, 0, nil)}
	p.enters("first", hereOrigin, true)
	p.enters("second", thereOrigin, true)
	p.enters("third", hereOrigin, true)
	p.wereSentAway("first")
	p = people{t: t, limit: newLimit(0, 2, 0, nil)}
	p.enters("other", thereOrigin, true)
	p.enters("first", hereOrigin, true)
	p.enters("second", hereOrigin, true)
	p.enters("third", hereOrigin, true)
	p.wereSentAway("first")
}

func TestAnAddressHasItsShare(t *testing.T) {
	p := people{t: t, limit: newLimit(0, 2, time.Hour, nil)}
	first := p.enters("first", hereOrigin, true)
	p.enters("second", hereOrigin, true)
	p.enters("third", hereOrigin, false)
	p.enters("other", thereOrigin, true)
	p.limit.Leave(first)
	p.enters("fourth", hereOrigin, true)
	p.wereSentAway()
}

func TestWhoLeavesLeavesNothing(t *testing.T) {
	p := people{t: t, limit: newLimit(3, 3, time.Hour, nil)}
	for range 2 {
		var all []*Slot
		for _, from := range []netip.Prefix{hereOrigin, hereOrigin, thereOrigin} {
			all = append(all, p.enters("one", from, true))
		}
		for _, m := range all {
			p.limit.Leave(m)
			p.limit.Leave(m)
		}
		p.limit.Leave(nil)
	}
	if p.limit.count != 0 || len(p.limit.from) != 0 {
		t.Errorf("of an empty limit %d have slots, from %v", p.limit.count, p.limit.from)
	}
}

func TestWhoWaitsGetsTheSlotOfOneWhoLeaves(t *testing.T) {
	p := people{t: t, limit: newLimit(1, 0, time.Hour, nil)}
	first := p.enters("first", hereOrigin, true)
	got := make(chan *Slot)
	go func() { got <- p.limit.Wait(hereOrigin, time.Now().Add(giveUp), func() {}) }()
	p.limit.Leave(first)
	if <-got == nil {
		t.Error("who waits gets no slot")
	}
	if m := p.limit.Wait(hereOrigin, time.Now(), func() {}); m != nil {
		t.Error("who has no time gets a slot that is taken")
	}
}

// usually is a limit of four that knows hereOrigin. Three unknown ones are there already.
func usually(t *testing.T, fairTime time.Duration) *people {
	known := &addresses{all: map[netip.Prefix]struct{}{hereOrigin: {}}}
	p := &people{t: t, limit: newLimit(4, 0, fairTime, known)}
	for i, name := range []string{"first", "second", "third"} {
		p.enters(name, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32), true)
	}
	return p
}

func TestUnknownAddressesGiveWayToKnownOnesAndNotTheOtherWayRound(t *testing.T) {
	p := usually(t, 0)
	p.enters("usual", hereOrigin, true)
	p.enters("usual, too", hereOrigin, true)
	p.wereSentAway("first")
	p.enters("unknown", thereOrigin, true)
	p.wereSentAway("first", "second") // though the usual address has the most members, and the time of all is over
	p.enters("usual, the third", hereOrigin, true)
	p.wereSentAway("first", "second", "third")
	p.enters("newcomer", netip.MustParsePrefix("10.0.0.9/32"), true)
	p.wereSentAway("first", "second", "third", "usual") // those have more than half
}

func TestAnUnknownAddressWaitsItsTurnBesideKnownOnes(t *testing.T) {
	p := usually(t, time.Hour)
	p.enters("usual", hereOrigin, true)
	p.enters("unknown", thereOrigin, false)
	p.wereSentAway()
}

func TestKnownAddressesAreRememberedUpToALimit(t *testing.T) {
	known := &addresses{all: make(map[netip.Prefix]struct{})}
	for i := range mostAddresses + 10 {
		last := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		if known.add(last); !known.has(last) {
			t.Fatal("the latest is not remembered")
		}
	}
	if n := len(known.all); n != mostAddresses {
		t.Errorf("%d are remembered; expected %d", n, mostAddresses)
	}
}

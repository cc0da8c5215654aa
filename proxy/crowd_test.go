package proxy

import (
	"net/netip"
	"testing"
	"time"
)

var (
	hereOrigin  = netip.MustParsePrefix("192.0.2.1/32")
	thereOrigin = netip.MustParsePrefix("192.0.2.2/32")
)

// people enters a crowd, and records who had to give way.
type people struct {
	t     *testing.T
	crowd *crowd
	away  []string
}

func (p *people) enters(name string, from netip.Prefix, expected bool) *member {
	p.t.Helper()
	m := p.crowd.enter(from, func() { p.away = append(p.away, name) })
	if (m != nil) != expected {
		p.t.Errorf("%s gets a place: %v; expected %v", name, m != nil, expected)
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

func TestTheAddressWithMostOfACrowdGivesWay(t *testing.T) {
	p := people{t: t, crowd: newCrowd(3, 0, time.Hour, nil)}
	p.enters("other", thereOrigin, true)
	first := p.enters("first", hereOrigin, true)
	p.enters("second", hereOrigin, true)
	p.enters("third", hereOrigin, false) // its own address has the most members
	p.wereSentAway()
	p.enters("newcomer", netip.MustParsePrefix("2001:db8::/64"), true)
	p.wereSentAway("first")
	p.crowd.leave(first) // it leaves after it had to give way
	p.enters("another", netip.MustParsePrefix("192.0.2.3/32"), false)
	if p.crowd.count != 3 {
		t.Errorf("%d have places; expected 3", p.crowd.count)
	}
}

func TestWhoHasHadHisTimeGivesWay(t *testing.T) {
	p := people{t: t, crowd: newCrowd(2, 0, 0, nil)}
	p.enters("first", hereOrigin, true)
	p.enters("second", thereOrigin, true)
	p.enters("third", hereOrigin, true)
	p.wereSentAway("first")
	p = people{t: t, crowd: newCrowd(0, 2, 0, nil)}
	p.enters("other", thereOrigin, true)
	p.enters("first", hereOrigin, true)
	p.enters("second", hereOrigin, true)
	p.enters("third", hereOrigin, true)
	p.wereSentAway("first")
}

func TestAnAddressHasItsShareOfACrowd(t *testing.T) {
	p := people{t: t, crowd: newCrowd(0, 2, time.Hour, nil)}
	first := p.enters("first", hereOrigin, true)
	p.enters("second", hereOrigin, true)
	p.enters("third", hereOrigin, false)
	p.enters("other", thereOrigin, true)
	p.crowd.leave(first)
	p.enters("fourth", hereOrigin, true)
	p.wereSentAway()
}

func TestWhoLeavesACrowdLeavesNothing(t *testing.T) {
	p := people{t: t, crowd: newCrowd(3, 3, time.Hour, nil)}
	for range 2 {
		var all []*member
		for _, from := range []netip.Prefix{hereOrigin, hereOrigin, thereOrigin} {
			all = append(all, p.enters("one", from, true))
		}
		for _, m := range all {
			p.crowd.leave(m)
			p.crowd.leave(m)
		}
		p.crowd.leave(nil)
	}
	if p.crowd.count != 0 || len(p.crowd.from) != 0 {
		t.Errorf("of an empty crowd %d have places, from %v", p.crowd.count, p.crowd.from)
	}
}

func TestWhoWaitsGetsThePlaceOfOneWhoLeaves(t *testing.T) {
	p := people{t: t, crowd: newCrowd(1, 0, time.Hour, nil)}
	first := p.enters("first", hereOrigin, true)
	got := make(chan *member)
	go func() { got <- p.crowd.wait(hereOrigin, time.Now().Add(giveUp), func() {}) }()
	p.crowd.leave(first)
	if <-got == nil {
		t.Error("who waits gets no place")
	}
	if m := p.crowd.wait(hereOrigin, time.Now(), func() {}); m != nil {
		t.Error("who has no time gets a place that is taken")
	}
}

// usually is a crowd of four that knows hereOrigin. Three strangers are there already.
func usually(t *testing.T, fairTime time.Duration) *people {
	known := &usual{addresses: map[netip.Prefix]struct{}{hereOrigin: {}}}
	p := &people{t: t, crowd: newCrowd(4, 0, fairTime, known)}
	for i, name := range []string{"first", "second", "third"} {
		p.enters(name, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32), true)
	}
	return p
}

func TestStrangersGiveWayToUsualClientsAndNotTheOtherWayRound(t *testing.T) {
	p := usually(t, 0)
	p.enters("usual", hereOrigin, true)
	p.enters("usual, too", hereOrigin, true)
	p.wereSentAway("first")
	p.enters("stranger", thereOrigin, true)
	p.wereSentAway("first", "second") // though the usual address has the most members, and the time of all is over
	p.enters("usual, the third", hereOrigin, true)
	p.wereSentAway("first", "second", "third")
	p.enters("newcomer", netip.MustParsePrefix("10.0.0.9/32"), true)
	p.wereSentAway("first", "second", "third", "usual") // those have more than half
}

func TestAStrangerWaitsItsTurnBesideUsualClients(t *testing.T) {
	p := usually(t, time.Hour)
	p.enters("usual", hereOrigin, true)
	p.enters("stranger", thereOrigin, false)
	p.wereSentAway()
}

func TestUsualAddressesAreRememberedUpToALimit(t *testing.T) {
	known := &usual{addresses: make(map[netip.Prefix]struct{})}
	for i := range mostUsual + 10 {
		last := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		if known.add(last); !known.has(last) {
			t.Fatal("the latest is not remembered")
		}
	}
	if n := len(known.addresses); n != mostUsual {
		t.Errorf("%d are remembered; expected %d", n, mostUsual)
	}
}

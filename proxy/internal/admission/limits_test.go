package admission

import (
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"
)

// visit is a connection from an address, which goes when it has to.
func visit(t *testing.T, l *Limits, from netip.Prefix) *Connection {
	t.Helper()
	c := new(Connection)
	if err := l.Enter(c, from, func() { c.GiveWay() }); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Connection) asks(t *testing.T) error {
	t.Helper()
	return c.AcquireSlot(t.Context(), time.Now().Add(giveUp), func() { c.GiveWay() }, func() bool { return false })
}

// Of 700 clients seven once had their first ReadyForQuery, and then the end without a word.
func TestAClientThatGivesWayAtTheMomentOfItsLoginHasNotLoggedIn(t *testing.T) {
	l := New(new(sync.WaitGroup), 0, FairTime)
	l.Set(0, 0, 0, 1, 0)
	usual := visit(t, l, thereOrigin)
	for range 2 {
		if !usual.LoggedIn() {
			t.Error("who gives way to nobody has not logged in")
		}
	}
	first, second := visit(t, l, hereOrigin), visit(t, l, thereOrigin)
	if err := first.asks(t); err != nil {
		t.Fatal(err)
	}
	placed := make(chan error)
	go func() { placed <- second.asks(t) }()
	for !first.GaveWay() {
		runtime.Gosched()
	}
	if first.LoggedIn() {
		t.Error("it has logged in, although another one has its place")
	}
	if l.known.has(hereOrigin) {
		t.Error("its address counts as a usual one")
	}
	first.ReleaseSlot()
	if err := <-placed; err != nil {
		t.Error(err)
	}
}

func TestAConnectionThatGaveWayBeforeItsFirstPacketAsksForNoSlot(t *testing.T) {
	l := New(new(sync.WaitGroup), 0, 0)
	l.Set(0, 1, 0, 0, 0)
	first := visit(t, l, hereOrigin)
	visit(t, l, hereOrigin)
	if err := first.asks(t); err != net.ErrClosed {
		t.Errorf("it gets %v", err)
	}
	if inside := visit(t, l, hereOrigin); !inside.LoggedIn() {
		t.Error("a client that needs no upstream cannot log in")
	}
}

package admission

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"
)

var elsewhere = netip.MustParsePrefix("192.0.2.3/32")

// nobody is the away function of a member that never has to give way.
func nobody() {}

// asks is a client at this address that is still there.
func asks(from netip.Prefix, late time.Time, away func()) client {
	return client{from, late, away, func() bool { return false }, context.Background()}
}

// newSlots are so many slots.
func newSlots(most int, fairTime time.Duration) *Slots {
	l := New(new(sync.WaitGroup), SlotPatience, fairTime)
	l.Set(0, 0, 0, 0, most)
	return l.Sessions
}

// fillSlots takes n slots for clients of one address, and returns them, oldest first. away says which of them has to
// go.
func fillSlots(t *testing.T, s *Slots, n int, away func()) []*Slot {
	t.Helper()
	var all []*Slot
	for range n {
		m, err := s.acquire(asks(hereOrigin, time.Now(), away))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func TestOneThatGivesWayHasAnHeirWhoWaitsUntilItIsGone(t *testing.T) {
	s, away, placed := newSlots(2, FairTime), make(chan struct{}, 1), make(chan error, 1)
	first := fillSlots(t, s, 2, func() { away <- struct{}{} })[1] // the newest: it loses least
	if _, err := s.acquire(asks(hereOrigin, time.Now().Add(giveUp), nobody)); err == nil {
		t.Error("one of the same address gets a slot")
	}
	go func() {
		_, err := s.acquire(asks(thereOrigin, time.Now().Add(giveUp), nobody))
		placed <- err
	}()
	<-away // its connections are still open
	if _, err := s.acquire(asks(elsewhere, time.Now(), nobody)); err == nil {
		t.Error("somebody else gets a slot while none is free")
	}
	s.release(first)
	if err := <-placed; err != nil {
		t.Errorf("the heir: %v", err)
	}
}

func TestAnHeirThatCannotWaitGivesTheSlotBackWhenItIsFree(t *testing.T) {
	s := newSlots(2, FairTime)
	all := fillSlots(t, s, 2, nobody)
	if _, err := s.acquire(asks(thereOrigin, time.Now(), nobody)); err == nil {
		t.Error("the heir does not wait")
	}
	s.release(all[0])
	if n, _ := s.Taken(); n != 1 {
		t.Errorf("%d slots are taken while the one that gives way is not gone; expected 1", n)
	}
	s.release(all[1])
	s.waits.Wait()
	if n, _ := s.Taken(); n > 0 {
		t.Fatalf("%d slots are left of nobody", n)
	}
}

func TestAnHeirThatGivesWayHasAnHeirAsWell(t *testing.T) {
	s, away := newSlots(2, FairTime), make(chan struct{}, 1)
	first := fillSlots(t, s, 2, func() { away <- struct{}{} })[1]
	s.members.known.add(thereOrigin)
	type outcome struct {
		m   *Slot
		err error
	}
	var outcomes []chan outcome
	for _, from := range []netip.Prefix{elsewhere, thereOrigin} {
		out := make(chan outcome, 1)
		outcomes = append(outcomes, out)
		go func() {
			m, err := s.acquire(asks(from, time.Now().Add(giveUp), func() { away <- struct{}{} }))
			out <- outcome{m, err}
		}()
		<-away // first, then its heir
	}
	s.release(first)
	if o := <-outcomes[0]; !errors.Is(o.err, net.ErrClosed) {
		t.Errorf("the heir that had to give way: %v", o.err)
	}
	last := <-outcomes[1]
	if last.err != nil {
		t.Fatalf("the heir of the heir: %v", last.err)
	}
	if n, _ := s.Taken(); n != 2 {
		t.Errorf("%d slots are taken; expected 2", n)
	}
	s.release(last.m)
	if n, _ := s.Taken(); n != 1 || s.Members() != 1 {
		t.Errorf("%d slots and %d entries are left; expected one that never had to go", n, s.Members())
	}
}

func TestEverySlotBeforeALoginIsOneThatCouldGiveWay(t *testing.T) {
	s := newSlots(3, 0)
	var takers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for range 5000 {
				// Without an error the slot was free, or somebody has given way; else all wait for PostgreSQL.
				if m, err := s.acquire(asks(hereOrigin, time.Now().Add(giveUp), nobody)); err == nil {
					s.members.turnOf(m, false)
					s.release(m)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { takers.Wait(); close(over) }()
	for {
		s.mu.Lock()
		taken, members := s.taken, s.members.Len()
		s.mu.Unlock()
		if taken != members {
			t.Fatalf("%d slots are taken while %d could give way", taken, members)
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

// loginSlots lets so many log in at once.
func loginSlots(logins int, patience time.Duration) *Slots {
	s := newSlots(0, FairTime)
	s.members.Set(logins, 0)
	s.patience = patience
	return s
}

func TestWhoWaitsForPostgreSQLHasNoAge(t *testing.T) {
	s := loginSlots(1, 0)
	s.members.fairTime = 0
	first := fillSlots(t, s, 1, func() { t.Error("a login that waits for PostgreSQL gives way") })[0]
	if _, err := s.acquire(asks(thereOrigin, time.Now().Add(giveUp), nobody)); err != ErrUpstreamLogins {
		t.Errorf("a newcomer gets %v", err)
	}
	went := make(chan struct{})
	first.away = func() { close(went); go s.release(first) }
	s.members.turnOf(first, false) // PostgreSQL has asked for a password
	if _, err := s.acquire(asks(thereOrigin, time.Now().Add(giveUp), nobody)); err != nil {
		t.Errorf("a newcomer does not get the place of a client that says nothing: %v", err)
	}
	<-went
}

func TestOfManyThatWaitForPostgreSQLTheNewestGivesWay(t *testing.T) {
	s := loginSlots(2, 0)
	first := fillSlots(t, s, 1, func() { t.Error("the older one gives way") })[0]
	var second *Slot
	second = fillSlots(t, s, 1, func() { go s.release(second) })[0]
	if _, err := s.acquire(asks(thereOrigin, time.Now().Add(giveUp), nobody)); err != nil {
		t.Errorf("another address has no share: %v", err)
	}
	s.release(first)
}

func TestTooManyLoginsWaitForTheirTurnAndNotForLong(t *testing.T) {
	s := loginSlots(1, giveUp)
	first := fillSlots(t, s, 1, nobody)[0]
	placed := make(chan error, 1)
	go func() {
		m, err := s.acquire(asks(hereOrigin, time.Now().Add(giveUp), nobody))
		if err == nil {
			s.keep(m)
		}
		placed <- err
	}()
	for s.waiting.Len() == 0 {
		runtime.Gosched()
	}
	s.keep(first) // it has logged in
	if err := <-placed; err != nil {
		t.Errorf("who waits gets %v", err)
	}
	s.patience = time.Millisecond
	second := fillSlots(t, s, 1, nobody)[0]
	if _, err := s.acquire(asks(hereOrigin, time.Now().Add(giveUp), nobody)); err != ErrUpstreamLogins {
		t.Errorf("who has waited gets %v", err)
	}
	if n := s.Members(); n != 1 {
		t.Errorf("%d log in; expected 1", n)
	}
	s.release(second)
}

func TestWhoLeavesWhileItWaitsTakesNoPlace(t *testing.T) {
	for name, leaves := range map[string]func(*Slots, *client){
		"client": func(_ *Slots, c *client) { c.ended = func() bool { return true } },
		"proxy": func(_ *Slots, c *client) {
			var end context.CancelFunc
			c.open, end = context.WithCancel(c.open)
			end()
		},
		"gives way": func(s *Slots, c *client) {
			s.waiting.Set(1, 0)
			s.waiting.known.add(thereOrigin)
			go func() {
				for s.waiting.Len() == 0 {
					runtime.Gosched()
				}
				s.waiting.Leave(s.waiting.Enter(thereOrigin, nobody))
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := loginSlots(1, giveUp)
			first := fillSlots(t, s, 1, nobody)[0]
			c := asks(hereOrigin, time.Now().Add(giveUp), nobody)
			leaves(s, &c)
			over := make(chan error, 1)
			go func() { _, err := s.acquire(c); over <- err }()
			if name == "client" {
				for s.waiting.Len() == 0 {
					runtime.Gosched()
				}
				s.release(first)
			}
			if err := <-over; err != net.ErrClosed {
				t.Errorf("it gets %v", err)
			}
		})
	}
}

package admission

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// nobody is the away function of a member that never has to give way.
func nobody() {}

// newSlots are so many slots.
func newSlots(most int, fairTime time.Duration) *Slots {
	l := newLimits(new(sync.WaitGroup), fairTime)
	l.Set(0, 0, 0, most)
	return l.Sessions
}

// fillSlots takes n slots for clients of one address, and returns them, oldest first. away says which of them has to
// go.
func fillSlots(t *testing.T, s *Slots, n int, away func()) []*Slot {
	t.Helper()
	var all []*Slot
	for range n {
		m, err := s.acquire(hereOrigin, time.Now(), away)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func TestOneThatGivesWayHasAnHeirWhoWaitsUntilItIsGone(t *testing.T) {
	s, away, placed := newSlots(2, FairTime), make(chan struct{}, 1), make(chan error, 1)
	first := fillSlots(t, s, 2, func() { away <- struct{}{} })[0]
	if _, err := s.acquire(hereOrigin, time.Now().Add(giveUp), nobody); err == nil {
		t.Error("one of the same address gets a slot")
	}
	go func() {
		_, err := s.acquire(thereOrigin, time.Now().Add(giveUp), nobody)
		placed <- err
	}()
	<-away // its connections are still open
	elsewhere := netip.MustParsePrefix("192.0.2.3/32")
	if _, err := s.acquire(elsewhere, time.Now(), nobody); err == nil {
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
	if _, err := s.acquire(thereOrigin, time.Now(), nobody); err == nil {
		t.Error("the heir does not wait")
	}
	s.release(all[1])
	if n, _ := s.Taken(); n != 1 {
		t.Errorf("%d slots are taken while the one that gives way is not gone; expected 1", n)
	}
	s.release(all[0])
	s.waits.Wait()
	if n, _ := s.Taken(); n > 0 {
		t.Fatalf("%d slots are left of nobody", n)
	}
}

func TestAnHeirThatGivesWayHasAnHeirAsWell(t *testing.T) {
	s, away := newSlots(1, 0), make(chan struct{}, 1)
	first := fillSlots(t, s, 1, func() { away <- struct{}{} })[0]
	type outcome struct {
		m   *Slot
		err error
	}
	var outcomes []chan outcome
	for range 2 {
		out := make(chan outcome, 1)
		outcomes = append(outcomes, out)
		go func() {
			m, err := s.acquire(thereOrigin, time.Now().Add(giveUp), func() { away <- struct{}{} })
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
	if n, _ := s.Taken(); n != 1 {
		t.Errorf("%d slots are taken; expected 1", n)
	}
	s.release(last.m)
	if n, _ := s.Taken(); n != 0 || s.Members() != 0 {
		t.Errorf("%d slots and %d entries are left of nobody", n, s.Members())
	}
}

func TestEverySlotBeforeALoginIsOneThatCouldGiveWay(t *testing.T) {
	s := newSlots(3, 0)
	var takers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for range 5000 {
				switch m, err := s.acquire(hereOrigin, time.Now().Add(giveUp), nobody); {
				case err == nil:
					s.release(m)
				case !errors.Is(err, net.ErrClosed):
					t.Error(err)
					return
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

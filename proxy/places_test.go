package proxy

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

// inside is how many members a crowd has.
func (c *crowd) inside() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// fillPlaces takes n places for clients of one address, and returns them, oldest first. away says which of them has to
// go.
func fillPlaces(t *testing.T, p *Proxy, n int, away func()) []*member {
	t.Helper()
	var all []*member
	for range n {
		m, err := p.takePlace(hereOrigin, time.Now(), away)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func TestOneThatGivesWayHasAnHeirWhoWaitsUntilItIsGone(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 2 })
	p, away, placed := r.proxy, make(chan struct{}, 1), make(chan error, 1)
	first := fillPlaces(t, p, 2, func() { away <- struct{}{} })[0]
	if _, err := p.takePlace(hereOrigin, time.Now().Add(giveUp), nobody); err == nil {
		t.Error("one of the same address gets a place")
	}
	go func() {
		_, err := p.takePlace(thereOrigin, time.Now().Add(giveUp), nobody)
		placed <- err
	}()
	<-away // its connections are still open
	elsewhere := netip.MustParsePrefix("192.0.2.3/32")
	if _, err := p.takePlace(elsewhere, time.Now(), nobody); err == nil {
		t.Error("somebody else gets a place while none is free")
	}
	p.givePlace(first)
	if err := <-placed; err != nil {
		t.Errorf("the heir: %v", err)
	}
}

func TestAnHeirThatCannotWaitGivesThePlaceBackWhenItIsFree(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 2 })
	p := r.proxy
	all := fillPlaces(t, p, 2, nobody)
	if _, err := p.takePlace(thereOrigin, time.Now(), nobody); err == nil {
		t.Error("the heir does not wait")
	}
	p.givePlace(all[1])
	left := func() (int, <-chan struct{}) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.places, p.changed
	}
	if n, _ := left(); n != 1 {
		t.Errorf("%d places are taken while the one that gives way is not gone; expected 1", n)
	}
	p.givePlace(all[0])
	for n, changed := left(); n > 0; n, changed = left() {
		if !until(changed, time.Now().Add(giveUp)) {
			t.Fatalf("%d places are left of nobody", n)
		}
	}
}

func TestAnHeirThatGivesWayHasAnHeirAsWell(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 1 })
	p, away := r.proxy, make(chan struct{}, 1)
	p.limits.placed.fairTime = 0
	first := fillPlaces(t, p, 1, func() { away <- struct{}{} })[0]
	type outcome struct {
		m   *member
		err error
	}
	var outcomes []chan outcome
	for range 2 {
		out := make(chan outcome, 1)
		outcomes = append(outcomes, out)
		go func() {
			m, err := p.takePlace(thereOrigin, time.Now().Add(giveUp), func() { away <- struct{}{} })
			out <- outcome{m, err}
		}()
		<-away // first, then its heir
	}
	p.givePlace(first)
	if o := <-outcomes[0]; !errors.Is(o.err, net.ErrClosed) {
		t.Errorf("the heir that had to give way: %v", o.err)
	}
	last := <-outcomes[1]
	if last.err != nil {
		t.Fatalf("the heir of the heir: %v", last.err)
	}
	if p.places != 1 {
		t.Errorf("%d places are taken; expected 1", p.places)
	}
	p.givePlace(last.m)
	if p.places != 0 || p.limits.placed.inside() != 0 {
		t.Errorf("%d places and %d entries are left of nobody", p.places, p.limits.placed.inside())
	}
}

func TestEveryPlaceOfAStrangerIsOneThatCouldGiveWay(t *testing.T) {
	p := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 3 }).proxy
	p.limits.placed.fairTime = 0
	var takers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for range 5000 {
				switch m, err := p.takePlace(hereOrigin, time.Now().Add(giveUp), nobody); {
				case err == nil:
					p.givePlace(m)
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
		p.mu.Lock()
		places, inside := p.places, p.limits.placed.inside()
		p.mu.Unlock()
		if places != inside {
			t.Fatalf("%d places are taken while %d could give way", places, inside)
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

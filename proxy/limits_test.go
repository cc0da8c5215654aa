package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// dialFrom connects from an address of this machine's own: 127.0.0.2 and so on.
func (r *rig) dialFrom(last byte) net.Conn {
	r.t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}).Dial("tcp", r.address)
	if err != nil {
		r.t.Skip("this machine has no other address of its own: ", err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// asksForIn lets a client say its startup packet, and returns the connection to upstream that was made for it.
func (r *rig) asksForIn(client net.Conn) (upstream net.Conn) {
	r.t.Helper()
	hello := startup("user", "u", "database", "d")
	r.write(client, [][]byte{hello})
	select {
	case upstream = <-r.arrivals:
	case <-time.After(giveUp):
		r.t.Fatal("upstream is not reached")
	}
	r.t.Cleanup(func() { upstream.Close() })
	r.expect(upstream, "upstream", [][]byte{hello})
	return upstream
}

// isTurnedAway expects FATAL 53300 and the end.
func (r *rig) isTurnedAway(client net.Conn) {
	r.t.Helper()
	if got := r.rest(client); !bytes.Equal(got, fatalMessage(failTooMany)) {
		r.t.Errorf("the client got %q; expected FATAL 53300", got)
	}
}

// nobody gives way here.
func nobody() {}

// inside is how many a crowd has.
func (c *crowd) inside() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

func TestALoginCountsUntilUpstreamLetsTheClientIn(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxLogins = 1 })
	r.client.(*net.TCPConn).SetLinger(0)
	up := r.asksForIn(r.client)
	password := message('R', []byte{0, 0, 0, 3})
	r.write(up, [][]byte{password})
	r.toClient(password)
	second := r.dial()
	defer second.Close()
	r.isTurnedAway(second)
	r.send(message('p', z("secret")))
	r.expect(up, "upstream", [][]byte{message('p', z("secret"))})
	r.write(up, [][]byte{authOK})
	r.toClient(authOK)
	third := r.dial()
	defer third.Close()
	r.asksForIn(third)
	if n := r.proxy.Stats().TurnedAway; n != 1 {
		t.Errorf("%d connections were turned away; expected 1", n)
	}
}

func TestALoginThatFailsGivesItsPlaceBack(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		s.MaxLogins, s.MaxLoginsPerAddress, s.MaxSessions, s.MaxClients = 1, 1, 1, 1
	})
	for range 3 {
		up := r.asksForIn(r.client)
		r.write(up, [][]byte{theirFailure})
		up.Close()
		r.rest(r.client)
		r.client.Close()
		for r.proxy.limits.clients.Load() > 0 {
			runtime.Gosched() // its goroutine is about to end
		}
		if n := r.proxy.limits.placed.inside() + r.proxy.limits.logins.inside(); n > 0 {
			t.Errorf("of a login that failed %d entries are left", n)
		}
		r.client = r.dial()
	}
}

func TestASessionThatDoesNotReachUpstreamGivesItsPlaceBack(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		s.Network, s.Address, s.MaxSessions = "unix", t.TempDir()+"/none", 1
	})
	for range 3 {
		r.send(startup("user", "u"))
		r.toClient(fatalMessage(failDial))
		r.rest(r.client)
		r.client.Close()
		if n := r.proxy.limits.placed.inside(); n > 0 {
			t.Errorf("of a session that did not reach upstream %d entries are left", n)
		}
		r.client = r.dial()
	}
}

// fillPlaces takes n places for clients of one address, and returns them, oldest first; who has to go is told by away.
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
	<-away // and its connections are yet to be closed
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

func TestOneAddressLocksOutNobodyElse(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxLogins = 3 })
	strangers := []net.Conn{r.client, r.dial(), r.dial()}
	for _, c := range strangers[1:] {
		defer c.Close()
	}
	late := r.dial()
	defer late.Close()
	r.isTurnedAway(late)
	r.asksForIn(r.dialFrom(2))
	if got := r.rest(strangers[0]); len(got) > 0 {
		t.Errorf("who gives way is told %q", got)
	}
	r.asksForIn(strangers[1])
}

func TestAnAddressHasNoMoreLoginsThanItsShare(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxLoginsPerAddress = 1 })
	second := r.dial()
	defer second.Close()
	r.isTurnedAway(second)
	r.asksForIn(r.dialFrom(2))
	r.asksForIn(r.client)
}

func TestNobodyFillsTheSessionsWithoutAPassword(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 2 })
	first := r.asksForIn(r.client)
	other := r.dial()
	defer other.Close()
	second := r.asksForIn(other)
	r.asksForIn(r.dialFrom(2))
	if got := r.rest(first); len(got) > 0 {
		t.Errorf("upstream of the session that gave way got %q", got)
	}
	r.write(second, [][]byte{authOK, ready('I')})
	r.expect(other, "client", [][]byte{authOK, ready('I')})
}

func TestASessionThatHasLoggedInGivesWayToNobody(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions, s.MaxLogins = 2, 2 })
	other := r.dial()
	defer other.Close()
	r.upstream = r.starts(r.client)
	defer r.starts(other).Close()
	c := r.dialFrom(2)
	r.write(c, [][]byte{startup("user", "u", "database", "d")})
	r.isTurnedAway(c)
	r.answersAgain("1")
}

func TestConnectionsOfClientsAreLimited(t *testing.T) {
	var log logged
	r := newRigBeforeStartup(t, &counter{}, logsTo(&log), func(s *Settings) { s.MaxClients = 2 })
	r.upstream = r.starts(r.client)
	second := r.dial()
	defer second.Close()
	for range 100 {
		c := r.dial()
		r.isTurnedAway(c)
		c.Close()
	}
	r.asksForIn(second)
	// The log's handler counts lines of one message that name a client (package node).
	if n := len(regexp.MustCompile(`(?m)msg="connection turned away".* client=`).FindAllString(log.text(),
		-1)); n != 100 {
		t.Errorf("%d lines tell of 100 connections that were turned away", n)
	}
	if n := r.proxy.Stats().TurnedAway; n != 100 {
		t.Errorf("%d connections were turned away; expected 100", n)
	}
}

func TestWhereTLSIsRequiredATurnedAwayClientIsToldNothing(t *testing.T) {
	offer, _ := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer, requires, func(s *Settings) { s.MaxLogins = 1 })
	second := r.dial()
	defer second.Close()
	if got := r.rest(second); len(got) > 0 {
		t.Errorf("the client is told %q in plain text", got)
	}
}

func TestCancelRequestsOnTheirWayAreLimited(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	cancel := []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
	var hang []net.Conn
	for range maxCancels {
		c := r.dial()
		defer c.Close()
		r.write(c, [][]byte{cancel})
		up := <-r.arrivals
		defer up.Close()
		r.expect(up, "upstream", [][]byte{cancel})
		hang = append(hang, up)
	}
	late := r.dial()
	defer late.Close()
	r.write(late, [][]byte{cancel})
	if got := r.rest(late); len(got) > 0 {
		t.Errorf("a CancelRequest is answered %q", got)
	}
	select {
	case <-r.arrivals:
		t.Errorf("a CancelRequest more than %d reached upstream", maxCancels)
	default:
	}
	other := r.dialFrom(2)
	r.write(other, [][]byte{cancel})
	r.expect(<-r.arrivals, "upstream", [][]byte{cancel})
	if _, err := hang[0].Read(make([]byte, 1)); err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the oldest CancelRequest of an address with many still waits: %v", err)
	}
	for _, up := range hang {
		up.Close()
	}
}

func TestAHandshakeHasADeadlineOfItsOwn(t *testing.T) {
	offer, _ := offers(t)
	for name, said := range map[string][]byte{
		"nothing": nil, "half a record": {22, 3, 1, 1, 0, 1}, "a record": append([]byte{22, 3, 1, 0, 4}, 1, 0, 1, 0),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, offer, func(s *Settings) {
				s.HandshakeTimeout = 50 * time.Millisecond
			})
			r.send(sslRequest, said)
			if got := r.rest(r.client); string(got) != "S" {
				t.Errorf("the client got %q; expected S and the end", got)
			}
		})
	}
}

func TestOnlySomeHandshakesAreAtWork(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	r.proxy.limits.handshakes.most = 2
	const record = "\x16\x03\x01\x00\x04\x01\x00\x01\x00" // the first record of a longer message
	var stuck []net.Conn
	for range 3 {
		c := r.dial()
		defer c.Close()
		r.write(c, [][]byte{sslRequest})
		r.expect(c, "client", [][]byte{{'S'}})
		r.write(c, [][]byte{[]byte(record)})
		stuck = append(stuck, c)
	}
	for r.proxy.limits.handshakes.inside() < 2 {
		runtime.Gosched()
	}
	r.client.Close()
	r.client = r.dialFrom(2) // the oldest of the others gives way
	r.requestsTLS(trusted)
	r.startsUp()
	for _, c := range stuck {
		c.Close()
	}
}

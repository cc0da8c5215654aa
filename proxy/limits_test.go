package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"

	"pgflurry/proxy/internal/admission"
)

// dialFrom connects from a loopback address: 127.0.0.2 and so on.
func (r *rig) dialFrom(last byte) net.Conn {
	r.t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}).Dial("tcp", r.address)
	if err != nil {
		r.t.Skip("this machine has no other address of its own: ", err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// asksForIn sends a client's startup packet, and returns the connection to upstream that the proxy makes for it.
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

// isTurnedAway expects FATAL 53300, whose hint names the limit, and the end.
func (r *rig) isTurnedAway(client net.Conn, code failure) {
	r.t.Helper()
	if got := r.rest(client); !bytes.Equal(got, fatalMessage(code)) {
		r.t.Errorf("the client got %q; expected FATAL 53300", got)
	}
}

// asksForPassword lets upstream ask a client for its password.
func (r *rig) asksForPassword(upstream, client net.Conn) {
	r.t.Helper()
	password := message('R', []byte{0, 0, 0, 3})
	r.write(upstream, [][]byte{password})
	r.expect(client, "client", [][]byte{password})
}

func TestALoginCountsUntilUpstreamLetsTheClientIn(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		s.MaxLogins, s.MaxUpstreamLogins, s.slotPatience = 1, 1, time.Millisecond
	})
	hello := [][]byte{startup("user", "u", "database", "d")}
	second := r.dial()
	defer second.Close()
	r.isTurnedAway(second, failTooManyLogins)
	up := r.asksForIn(r.client)
	third := r.dial()
	defer third.Close()
	r.write(third, hello)
	r.isTurnedAway(third, failUpstreamLogins)
	r.asksForPassword(up, r.client)
	r.send(message('p', z("secret")))
	r.expect(up, "upstream", [][]byte{message('p', z("secret"))})
	r.write(up, [][]byte{authOK})
	r.toClient(authOK)
	fourth := r.dial()
	defer fourth.Close()
	r.asksForIn(fourth)
	if n := r.proxy.Stats().TurnedAway; n != 2 {
		t.Errorf("%d connections were turned away; expected 2", n)
	}
}

func TestALoginThatWaitsForPostgreSQLKeepsItsPlace(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		s.MaxUpstreamLogins, s.slotPatience, s.fairTime = 1, time.Millisecond, time.Nanosecond
	})
	up := r.asksForIn(r.client)
	for _, after := range []func(){
		func() {},
		func() {
			r.asksForPassword(up, r.client)
			r.send(message('p', z("secret")))
			r.expect(up, "upstream", [][]byte{message('p', z("secret"))})
		},
		func() {
			final := message('R', []byte{0, 0, 0, 12})
			r.write(up, [][]byte{final})
			r.toClient(final)
		},
	} {
		after()
		newcomer := r.dial()
		r.write(newcomer, [][]byte{startup("user", "u", "database", "d")})
		r.isTurnedAway(newcomer, failUpstreamLogins)
		newcomer.Close()
	}
	r.asksForPassword(up, r.client)
	r.asksForIn(r.dial())
	if got := r.rest(up); len(got) > 0 {
		t.Errorf("upstream of the client that did not answer got %q", got)
	}
}

// clients is how many connections of clients are open.
func (p *Proxy) clients() int {
	n, _ := p.limits.Clients()
	return n
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
		for r.proxy.clients() > 0 {
			runtime.Gosched() // its goroutine is about to end
		}
		if n := r.proxy.limits.Sessions.Members() + r.proxy.limits.Logins(); n > 0 {
			t.Errorf("of a login that failed %d entries are left", n)
		}
		r.client = r.dial()
	}
}

func TestASessionThatDoesNotReachUpstreamGivesItsPlaceBack(t *testing.T) {
	away := t.TempDir() + "/none"
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		s.Upstream, s.MaxSessions = []Host{{Network: "unix", Address: away}}, 1
	})
	for range 3 {
		r.send(startup("user", "u"))
		r.toClient(fatalMessage(failDial))
		r.rest(r.client)
		r.client.Close()
		if n := r.proxy.limits.Sessions.Members(); n > 0 {
			t.Errorf("of a session that did not reach upstream %d entries are left", n)
		}
		r.client = r.dial()
	}
}

// People cancel when all places are taken. PostgreSQL itself cancels then, too.
func TestACancelRequestPassesWhereAllElseIsTurnedAway(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"descriptors": func(s *Settings) { s.MaxClients = 1 },
		"logins":      func(s *Settings) { s.MaxLogins = 1 },
		"TLS":         func(s *Settings) { s.MaxLogins, s.RequireTLS = 1, true },
	} {
		t.Run(name, func(t *testing.T) {
			offer, _ := offers(t)
			r := newRigBeforeStartup(t, &counter{}, offer, change) // its client says nothing
			for range 3 {
				cancels := r.dial()
				packet := []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
				r.write(cancels, [][]byte{packet})
				up := <-r.arrivals
				r.expect(up, "upstream", [][]byte{packet})
				up.Close()
				if got := r.rest(cancels); len(got) > 0 {
					t.Errorf("the client got %q; a cancel request has no answer", got)
				}
				cancels.Close()
			}
			for r.proxy.limits.Unread.Len() > 0 {
				runtime.Gosched()
			}
		})
	}
}

func TestOneAddressLocksOutNobodyElse(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxLogins = 3 })
	early := []net.Conn{r.client, r.dial(), r.dial()}
	for _, c := range early[1:] {
		defer c.Close()
	}
	late := r.dial()
	defer late.Close()
	r.isTurnedAway(late, failTooManyLogins)
	r.asksForIn(r.dialFrom(2))
	if got := r.rest(early[0]); len(got) > 0 {
		t.Errorf("who gives way is told %q", got)
	}
	r.asksForIn(early[1])
}

func TestAnAddressHasNoMoreLoginsThanItsShare(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxLoginsPerAddress = 1 })
	second := r.dial()
	defer second.Close()
	r.isTurnedAway(second, failTooManyLogins)
	r.asksForIn(r.dialFrom(2))
	r.asksForIn(r.client)
}

func TestNobodyFillsTheSessionsWithoutAPassword(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.MaxSessions = 2 })
	first := r.asksForIn(r.client)
	other := r.dial()
	defer other.Close()
	second := r.asksForIn(other)
	r.asksForPassword(first, r.client)
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
	r.isTurnedAway(c, failTooMany)
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
		r.write(c, [][]byte{startup("user", "u", "database", "d")})
		r.isTurnedAway(c, failDescriptors)
		c.Close()
	}
	r.asksForIn(second)
	// The log's handler counts lines with the same message about clients (package node).
	turnedAway := regexp.MustCompile(`(?m)msg="connection turned away".* client=`)
	if n := len(turnedAway.FindAllString(log.text(), -1)); n != 100 {
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
	for range admission.MaxCancels {
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
		t.Errorf("a CancelRequest more than %d reached upstream", admission.MaxCancels)
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

// deaf writes what TLS sends to into, and reads nothing.
type deaf struct {
	net.Conn
	into *bytes.Buffer
}

func (d deaf) Write(b []byte) (int, error) { return d.into.Write(b) }
func (deaf) Read([]byte) (int, error)      { return 0, io.EOF }

// helloOf is the first message of a TLS client.
func helloOf(t *testing.T, config *tls.Config) []byte {
	t.Helper()
	var hello bytes.Buffer
	if err := tls.Client(deaf{nil, &hello}, config).Handshake(); err == nil {
		t.Fatal("a handshake with nobody has succeeded")
	}
	return hello.Bytes()
}

func TestAHandshakeThatWaitsForItsClientHoldsNoPlace(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	r.proxy.limits.Handshakes.Set(1, 0)
	hello := helloOf(t, trusted)
	for range 3 {
		c := r.dial()
		defer c.Close()
		r.write(c, [][]byte{sslRequest})
		r.expect(c, "client", [][]byte{{'S'}})
		r.write(c, [][]byte{hello})
		if _, err := c.Read(make([]byte, 1)); err != nil { // the proxy's answer, to which this client says nothing
			t.Fatal(err)
		}
	}
	r.requestsTLS(trusted)
	r.startsUp()
}

func TestOnlySomeHandshakesAreAtWork(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	limit := r.proxy.limits.Handshakes
	limit.Set(2, 0)
	gone := make(chan struct{})
	for i := range 2 { // two others at work, from one address
		if limit.Enter(admission.Origin(r.client.LocalAddr()), func() { close(gone) }) == nil {
			t.Fatalf("there is no place number %d", i)
		}
	}
	r.client.Close()
	r.client = r.dialFrom(2)
	r.requestsTLS(trusted)
	r.startsUp()
	<-gone // the older of them had to give way
}

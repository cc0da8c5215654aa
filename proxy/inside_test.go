package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"

	"pgflurry/proxy/internal/wire"
)

// echo serves a database of its own. It lets everybody in, and echoes what it hears.
type echo struct {
	startups chan wire.Startup
	asks     chan struct{} // closed when the question was answered; nil: no question
	ours     []byte        // key of a cancel request
}

func (e *echo) Has(database string) bool { return database == "ids" }

func (e *echo) Cancels(request []byte) bool { return bytes.Equal(request[8:], e.ours) }

func (e *echo) Serve(conn net.Conn, wanted *wire.Startup, _ time.Time, loggedIn func() bool, _ *slog.Logger) {
	e.startups <- *wanted
	if e.asks != nil {
		<-e.asks
	}
	loggedIn()
	buf := make([]byte, 100)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if _, err := conn.Write(buf[:n]); err != nil {
			return
		}
	}
}

func newInsideRig(t *testing.T, change ...func(*Settings)) (*rig, *echo) {
	e := &echo{startups: make(chan wire.Startup, 1), ours: []byte("\x00\x00\x00\x07key!")}
	inside := func(s *Settings) { s.Inside, s.MaxLogins = e, 1 }
	r := newRigBeforeStartup(t, &counter{}, append([]func(*Settings){inside}, change...)...)
	return r, e
}

func (r *rig) reachesNobody() {
	r.t.Helper()
	select {
	case <-r.arrivals:
		r.t.Error("upstream was connected to; expected nothing")
	default:
	}
}

func TestAGuestIsServedInsideAndNeverReachesUpstream(t *testing.T) {
	r, e := newInsideRig(t)
	hello := startup("user", "u", "database", "ids", "options", "-c x=y")
	r.send(hello)
	if got := <-e.startups; got.User != "u" || got.Options != "-c x=y" {
		t.Errorf("startup packet %+v; expected that of %q", got, hello)
	}
	r.send(query("SELECT 1"))
	r.toClient(query("SELECT 1"))
	r.reachesNobody()
	st := r.proxy.Stats()
	if st.Opened != 0 || st.Open["login"] != 0 {
		t.Errorf("an inside session counts as a session: opened %d, open %v", st.Opened, st.Open)
	}
	// It has logged in, so another one may: there is one place.
	other := r.dial()
	defer other.Close()
	r.write(other, [][]byte{hello})
	<-e.startups
	r.write(other, [][]byte{query("SELECT 2")})
	r.expect(other, "the other client", [][]byte{query("SELECT 2")})
	other.Close()
}

func TestSettleWaitsForAGuestUntilItHasLoggedIn(t *testing.T) {
	r, e := newInsideRig(t)
	e.asks = make(chan struct{})
	r.send(startup("user", "u", "database", "ids"))
	<-e.startups
	if r.proxy.settled() {
		t.Error("no client is arriving while one logs in")
	}
	close(e.asks)
	r.proxy.Settle(context.Background())
	r.send(query("SELECT 1"))
	r.toClient(query("SELECT 1"))
}

// settled says that no client is arriving.
func (p *Proxy) settled() bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return p.registry.Settle(ended)
}

func TestAGuestTakesHalfOfThePlaceOfAClientSinceItNeedsOneDescriptor(t *testing.T) {
	r, e := newInsideRig(t, func(s *Settings) { s.MaxLogins, s.MaxClients = 0, 2 })
	hello := startup("user", "u", "database", "ids")
	r.send(hello) // the first client
	<-e.startups
	for range 2 {
		inside := r.dial()
		defer inside.Close()
		r.write(inside, [][]byte{hello, query("SELECT 1")})
		r.expect(inside, "an inside session", [][]byte{query("SELECT 1")})
		<-e.startups
	}
	if !r.proxy.Stats().Full {
		t.Error("three inside sessions leave a place for a client that needs two descriptors")
	}
	late := r.dial()
	defer late.Close()
	if rest := r.rest(late); !bytes.Contains(rest, []byte("53300")) {
		t.Errorf("the fourth client heard %q; expected 53300", rest)
	}
}

func TestTheEndOfADrainDoesNotEndAGuest(t *testing.T) {
	r, e := newInsideRig(t)
	r.send(startup("user", "u", "database", "ids"))
	<-e.startups
	r.proxy.Drain(context.Background())
	r.send(query("SELECT 1"))
	r.toClient(query("SELECT 1"))
	r.client.Close()
}

func TestACancelRequestWithAKeyFromInsideIsNotPassedOn(t *testing.T) {
	r, e := newInsideRig(t)
	request := func(key string) []byte {
		b := binary.BigEndian.AppendUint32(nil, 16)
		return append(binary.BigEndian.AppendUint32(b, wire.CancelRequest), key...)
	}
	r.send(request(string(e.ours)))
	if rest := r.rest(r.client); len(rest) > 0 {
		t.Errorf("the client heard %q; expected the end", rest)
	}
	r.reachesNobody()
	for r.proxy.clients() > 0 {
		runtime.Gosched() // its goroutine is about to end; there is one place for logins
	}

	other := r.dial()
	defer other.Close()
	r.write(other, [][]byte{request("\x00\x00\x00\x08key!")})
	upstream := <-r.arrivals
	r.expect(upstream, "upstream", [][]byte{request("\x00\x00\x00\x08key!")})
	upstream.Close()
}

package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
)

var (
	sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47}
	gssRequest = []byte{0, 0, 0, 8, 4, 210, 22, 48}
)

// offers gives a proxy a certificate that trusted verifies.
func offers(t *testing.T) (change func(*Settings), trusted *tls.Config) {
	t.Helper()
	ca := authority.New(t, "proxy CA")
	offer, err := pgtls.NewClient(ca.Issue(t, authority.Leaf{Hosts: []string{"proxy.test"}}).TLS, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *Settings) { s.ClientTLS = offer }, &tls.Config{RootCAs: ca.Pool(), ServerName: "proxy.test"}
}

// logsTo writes the log to w, which may be read after the end of the proxy.
func logsTo(w io.Writer) func(*Settings) {
	return func(s *Settings) { s.Log = slog.New(slog.NewTextHandler(w, nil)) }
}

func requires(s *Settings) { s.RequireTLS = true }

// directly is the configuration of a client that begins TLS without asking.
func directly(trusted *tls.Config, protocols ...string) *tls.Config {
	c := trusted.Clone()
	c.NextProtos = protocols
	return c
}

// requestsTLS asks for TLS as libpq does, and goes on inside it.
func (r *rig) requestsTLS(config *tls.Config) {
	r.t.Helper()
	r.send(sslRequest)
	r.toClient([]byte{'S'})
	r.client = tls.Client(r.client, config)
}

// startsUp begins a session for a client that has agreed on encryption.
func (r *rig) startsUp() {
	r.t.Helper()
	r.send(startup("user", "u", "database", "d"))
	r.upstream = <-r.arrivals
	r.toUpstream(startup("user", "u", "database", "d"))
	r.reply(authOK, ready('I'))
	r.toClient(authOK, ready('I'))
}

func TestAClientInsideTLSIsAnsweredAndRelayed(t *testing.T) {
	offer, trusted := offers(t)
	for name, enter := range map[string]func(*rig){
		"SSLRequest":              func(r *rig) { r.requestsTLS(trusted) },
		"GSSENCRequest before it": func(r *rig) { r.send(gssRequest); r.toClient([]byte{'N'}); r.requestsTLS(trusted) },
		"direct":                  func(r *rig) { r.client = tls.Client(r.client, directly(trusted, pgtls.ALPN)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, offer, requires)
			enter(r)
			r.startsUp()
			r.answersAgain("1")
			r.relays(query("SELECT 1"), join(dataRow("1"), complete("SELECT 1"), ready('I')))
		})
	}
}

func TestTLSIsRefusedAsItShouldBe(t *testing.T) {
	offer, trusted := offers(t)
	old := trusted.Clone()
	old.MaxVersion = tls.VersionTLS11
	old.MinVersion = tls.VersionTLS11
	for name, c := range map[string]struct {
		config *tls.Config
		says   string
	}{
		"TLS 1.1":                        {old, "protocol version not supported"},
		"direct and for another service": {directly(trusted, "http/1.1"), "no application protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, offer)
			if err := tls.Client(r.client, c.config).Handshake(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the handshake ended with %v; expected %q", err, c.says)
			}
		})
	}
	t.Run("direct and for no service", func(t *testing.T) {
		r := newRigBeforeStartup(t, &counter{}, offer)
		r.client = tls.Client(r.client, directly(trusted))
		r.toClient(fatalMessage(failALPN))
	})
	t.Run("direct where there is no certificate", func(t *testing.T) {
		r := newRigBeforeStartup(t, &counter{})
		err := tls.Client(r.client, directly(trusted, pgtls.ALPN)).Handshake()
		if err == nil || errors.As(err, new(tls.RecordHeaderError)) {
			t.Errorf("the handshake ended with %v; expected the end of the connection without a plain word", err)
		}
	})
	for name, request := range map[string][]byte{"SSLRequest": sslRequest, "GSSENCRequest": gssRequest} {
		t.Run(name+" inside TLS", func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, offer)
			r.requestsTLS(trusted)
			r.send(request)
			r.toClient(fatalMessage(failEncryptionTwice))
		})
	}
}

func TestInvariant9PlainBytesBehindAnSSLRequestAreNeverBelieved(t *testing.T) {
	offer, _ := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	r.send(sslRequest, startup("user", "u", "database", "d"))
	got := r.rest(r.client)
	if len(got) == 0 || got[0] != 'S' || bytes.Contains(got, []byte("08P01")) {
		t.Errorf("the client got %q; expected S and no plain word behind it", got)
	}
	select {
	case <-r.arrivals:
		t.Error("what came in plain text behind the SSLRequest opened a session")
	default:
	}
}

func TestASessionWithoutTLSIsRefusedWhereTLSIsRequiredButItsCancelRequestIsNot(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer, requires)
	r.send(startup("user", "u", "database", "d"))
	r.toClient(fatalMessage(failTLSRequired))
	cancel := []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
	for _, config := range []*tls.Config{nil, trusted} {
		r.client.Close()
		r.client = r.dial()
		if config != nil {
			r.requestsTLS(config)
		}
		r.send(cancel)
		r.upstream = <-r.arrivals
		r.toUpstream(cancel)
		r.upstream.Close()
		if got := r.rest(r.client); len(got) > 0 {
			t.Errorf("a CancelRequest is answered %q", got)
		}
	}
}

// records notes the length of each TLS record with application data that is read.
type records struct {
	net.Conn
	rest    []byte
	longest int
}

func (c *records) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.rest = append(c.rest, b[:n]...)
	for len(c.rest) >= 5 {
		length := int(c.rest[3])<<8 | int(c.rest[4])
		if len(c.rest) < 5+length {
			break
		}
		if c.rest[0] == 23 {
			c.longest = max(c.longest, length)
		}
		c.rest = c.rest[5+length:]
	}
	return n, err
}

func TestNoTLSRecordCarriesMoreThanEightKilobytes(t *testing.T) {
	offer, trusted := offers(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		config := trusted.Clone()
		config.MaxVersion = version
		r := newRigBeforeStartup(t, &counter{}, offer)
		leg := &records{Conn: r.client}
		r.client = leg
		r.requestsTLS(config)
		leg.rest = nil
		r.startsUp()
		large := message('D', bytes.Repeat([]byte{'r'}, 3<<20))
		small := bytes.Repeat(dataRow("1"), 100_000)
		r.send(query("SELECT"))
		r.toUpstream(query("SELECT"))
		go r.upstream.Write(join(large, small, complete("SELECT"), ready('I')))
		r.toClient(large, small, complete("SELECT"), ready('I'))
		r.send(query("SELECT next_snowflake() FROM generate_series(1, 10000)"))
		for range 10_000 {
			var head [frame.HeaderSize]byte
			io.ReadFull(r.client, head[:])
			io.CopyN(io.Discard, r.client, int64(head[4])-4)
		}
		const most = 8<<10 + 1 + 8 + 16 // type (1.3), nonce (1.2), tag
		if leg.longest > most || leg.longest < 8<<10 {
			t.Errorf("TLS %x: the longest record has %d bytes; expected more than 8192, at most %d",
				version, leg.longest, most)
		}
	}
}

func TestAHandshakeIsBoundedInTime(t *testing.T) {
	offer, _ := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer, func(s *Settings) { s.LoginTimeout = 50 * time.Millisecond })
	r.send(sslRequest)
	if got := r.rest(r.client); string(got) != "S" {
		t.Errorf("a client that begins no handshake got %q; expected S and the end", got)
	}
}

func TestAProbeThatIsAnsweredSIsNoFailureButAHandshakeCutOffIs(t *testing.T) {
	offer, _ := offers(t)
	for said, logged := range map[string]bool{"": false, "\x16\x03\x01\x02": true} {
		var log strings.Builder
		r := newRigBeforeStartup(t, &counter{}, offer, logsTo(&log))
		r.send(sslRequest)
		r.toClient([]byte{'S'})
		r.send([]byte(said))
		r.client.(*net.TCPConn).CloseWrite()
		r.rest(r.client)
		r.proxy.Drain(over())
		r.proxy.Wait()
		if strings.Contains(log.String(), "TLS handshake") != logged {
			t.Errorf("after %q the log says %q", said, &log)
		}
	}
}

func TestACertificateIsReplacedWithoutTouchingSessions(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	r.requestsTLS(trusted)
	r.startsUp()
	first := r.client
	defer first.Close()
	var next Settings
	change, trustedNext := offers(t)
	change(&next)
	if err := r.proxy.Change(next.Rules); err != nil {
		t.Fatal(err)
	}
	r.answersAgain("1")
	for _, c := range []struct {
		config *tls.Config
		ok     bool
	}{{trusted, false}, {trustedNext, true}} {
		if err := tls.Client(r.dial(), directly(c.config, pgtls.ALPN)).Handshake(); (err == nil) != c.ok {
			t.Errorf("after the certificate was replaced a handshake ends with %v; expected success %v", err, c.ok)
		}
	}
	r.answersAgain("2")
}

func TestAClientThatVanishesInsideTLSEndsItsSession(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	r.requestsTLS(trusted)
	r.startsUp()
	r.client.(*tls.Conn).NetConn().Close() // without TLS's close_notify
	r.rest(r.upstream)
}

func TestADrainReachesAnIdleClientInsideTLS(t *testing.T) {
	offer, trusted := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	r.requestsTLS(trusted)
	r.startsUp()
	go r.proxy.Drain(over())
	for !r.proxy.registry.Draining.Load() {
		runtime.Gosched()
	}
	if got := r.rest(r.client); !bytes.Contains(got, []byte("57P01")) {
		t.Errorf("an idle client inside TLS got %q; expected FATAL 57P01", got)
	}
}

package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"

	"pgflurry/internal/draw"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
)

// shows is an upstream's side of TLS.
func shows(pair authority.Pair) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{pair.TLS}}
}

func reaches(u pgtls.Upstream) func(*Settings) { return func(s *Settings) { s.UpstreamTLS = u } }

// takesTLS plays an upstream that gets a request for TLS and has it.
func (r *rig) takesTLS(config *tls.Config) error {
	r.t.Helper()
	r.upstream = <-r.arrivals
	r.toUpstream(sslRequest)
	r.reply([]byte{'S'})
	inside := tls.Server(r.upstream, config)
	err := inside.Handshake()
	r.upstream = inside
	return err
}

func TestTheModesOfUpstreamTLSAreThoseOfLibpq(t *testing.T) {
	ca, other := authority.New(t, "CA"), authority.New(t, "another CA")
	good := ca.Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}})
	elsewhere := ca.Issue(t, authority.Leaf{Hosts: []string{"db.example.com", "10.0.0.1"}})
	expired := ca.Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}, Expired: true})
	unknown := other.Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}})
	trusting := func(m pgtls.Mode) pgtls.Upstream { return pgtls.Upstream{Mode: m, CAs: ca.Pool()} }
	var works failure
	for name, c := range map[string]struct {
		tls  pgtls.Upstream
		pair authority.Pair
		fail failure
	}{
		"require trusts anybody":              {pgtls.Upstream{Mode: pgtls.Require}, expired, works},
		"require with a CA asks it":           {trusting(pgtls.Require), unknown, failUpstreamCertificate},
		"require with a CA asks for no name":  {trusting(pgtls.Require), elsewhere, works},
		"verify-ca asks for no name":          {trusting(pgtls.VerifyCA), elsewhere, works},
		"verify-ca refuses an unknown CA":     {trusting(pgtls.VerifyCA), unknown, failUpstreamCertificate},
		"verify-ca refuses what has expired":  {trusting(pgtls.VerifyCA), expired, failUpstreamCertificate},
		"verify-full takes the right name":    {trusting(pgtls.VerifyFull), good, works},
		"verify-full refuses the wrong name":  {trusting(pgtls.VerifyFull), elsewhere, failUpstreamCertificate},
		"verify-full refuses an unknown CA":   {trusting(pgtls.VerifyFull), unknown, failUpstreamCertificate},
		"prefer trusts anybody":               {pgtls.Upstream{Mode: pgtls.Prefer}, unknown, works},
		"verify-full refuses what is expired": {trusting(pgtls.VerifyFull), expired, failUpstreamCertificate},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, reaches(c.tls))
			r.send(startup("user", "u", "database", "d"))
			err := r.takesTLS(shows(c.pair))
			if c.fail != works {
				r.toClient(fatalMessage(c.fail))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.toUpstream(startup("user", "u", "database", "d"))
			r.reply(authOK, ready('I'))
			r.toClient(authOK, ready('I'))
			r.answersAgain("1")
			r.relays(query("SELECT 1"), join(dataRow("1"), complete("SELECT 1"), ready('I')))
		})
	}
}

func TestAnUpstreamWithoutTLS(t *testing.T) {
	request := startup("user", "u", "database", "d")
	t.Run("is used in plain text by prefer", func(t *testing.T) {
		r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Prefer}))
		r.send(request)
		r.upstream = <-r.arrivals
		r.toUpstream(sslRequest)
		r.reply([]byte{'N'})
		r.toUpstream(request)
	})
	for _, answer := range []string{"N", "Eerror", "HTTP"} {
		t.Run("is not used by require: "+answer, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}))
			r.send(request)
			r.upstream = <-r.arrivals
			r.toUpstream(sslRequest)
			r.reply([]byte(answer))
			r.toClient(fatalMessage(failUpstreamTLS))
		})
	}
	t.Run("and with plain words behind its S is refused", func(t *testing.T) {
		r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}))
		r.send(request)
		r.upstream = <-r.arrivals
		r.toUpstream(sslRequest)
		r.reply([]byte{'S'}, authOK, ready('I'))
		r.toClient(fatalMessage(failUpstreamTLS))
	})
}

func TestPreferTriesPlainTextWhereTLSFails(t *testing.T) {
	request := startup("user", "u", "database", "d")
	pair := authority.New(t, "CA").Issue(t, authority.Leaf{})
	noEntry := message('E', z("SFATAL"), z("VFATAL"), z("C28000"), z("Mno pg_hba.conf entry"), []byte{0})
	other := message('E', z("SFATAL"), z("VFATAL"), z("C53300"), z("Mtoo many"), []byte{0})
	newRig := func(t *testing.T) *rig {
		r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Prefer}))
		r.send(request)
		return r
	}
	t.Run("in the handshake", func(t *testing.T) {
		r := newRig(t)
		old := shows(pair)
		old.MaxVersion = tls.VersionTLS11
		if r.takesTLS(old) == nil {
			t.Fatal("a handshake with TLS 1.1 succeeded")
		}
		r.upstream.Close()
		r.upstream = <-r.arrivals
		r.toUpstream(request)
	})
	t.Run("in pg_hba.conf", func(t *testing.T) {
		r := newRig(t)
		if err := r.takesTLS(shows(pair)); err != nil {
			t.Fatal(err)
		}
		r.toUpstream(request)
		r.reply(noEntry)
		r.rest(r.upstream)
		r.upstream = <-r.arrivals
		r.toUpstream(request)
		r.reply(noEntry) // the second refusal is for the client
		r.toClient(noEntry)
	})
	t.Run("but not for another reason", func(t *testing.T) {
		r := newRig(t)
		if err := r.takesTLS(shows(pair)); err != nil {
			t.Fatal(err)
		}
		r.toUpstream(request)
		r.reply(other)
		r.toClient(other)
	})
}

func TestDialUpstreamInsideTLSGivesWhatDriversBindSCRAMTo(t *testing.T) {
	pair := authority.New(t, "CA").Issue(t, authority.Leaf{})
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}))
	taken := make(chan error, 1)
	go func() { taken <- r.takesTLS(shows(pair)) }()
	conn, err := r.proxy.DialUpstream(t.Context())
	if err := errors.Join(err, <-taken); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, inside := conn.(*tls.Conn); !inside {
		t.Errorf("it gives a %T; expected a *tls.Conn, the type pgconn looks for", conn)
	}
}

func TestADrainEndsAPreferThatWaitsForUpstreamsFirstWord(t *testing.T) {
	pair := authority.New(t, "CA").Issue(t, authority.Leaf{})
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Prefer}), func(s *Settings) {
		s.LoginTimeout = 100 * giveUp
	})
	r.send(startup("user", "u", "database", "d"))
	if err := r.takesTLS(shows(pair)); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(startup("user", "u", "database", "d"))
	r.proxy.Drain(over())
	r.rest(r.upstream) // it fails if the end does not come
}

func TestACancelRequestReachesUpstreamInsideTLS(t *testing.T) {
	pair := authority.New(t, "CA").Issue(t, authority.Leaf{})
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}))
	cancel := []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
	r.send(cancel)
	if err := r.takesTLS(shows(pair)); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(cancel)
	r.upstream.Close()
	r.rest(r.client)
}

func TestAnUpstreamThatRefusesTheProxysCertificateIsAFatalWithAHint(t *testing.T) {
	ca, other := authority.New(t, "CA"), authority.New(t, "another CA")
	stranger := other.Issue(t, authority.Leaf{CommonName: "u"})
	for name, own := range map[string]*tls.Certificate{"none": nil, "of an unknown CA": &stranger.TLS} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			r := newRigBeforeStartup(t, &counter{},
				reaches(pgtls.Upstream{Mode: pgtls.Require, Certificate: own}), logsTo(&log))
			r.send(startup("user", "u", "database", "d"))
			strict := shows(ca.Issue(t, authority.Leaf{}))
			strict.ClientAuth, strict.ClientCAs = tls.RequireAndVerifyClientCert, ca.Pool()
			if err := r.takesTLS(strict); err == nil {
				t.Fatal("the upstream was content")
			}
			r.toClient(fatalMessage(failUpstreamTLS))
		})
	}
}

// The reset may destroy the alert of an upstream that refuses the proxy's certificate.
func TestAnUpstreamThatResetsTheConnectionBehindTheHandshakeIsAFatalWithTheHintOfTLS(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}))
	r.send(startup("user", "u", "database", "d"))
	if err := r.takesTLS(shows(authority.New(t, "CA").Issue(t, authority.Leaf{}))); err != nil {
		t.Fatal(err)
	}
	beneath := r.upstream.(*tls.Conn).NetConn().(*net.TCPConn)
	if err := beneath.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	beneath.Close()
	r.toClient(fatalMessage(failUpstreamTLS))
}

func TestAnUpstreamThatNeverAnswersTheRequestForTLSIsGivenUp(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Prefer}), func(s *Settings) {
		s.DialTimeout = 1
	})
	r.send(startup("user", "u", "database", "d"))
	if got := string(r.rest(r.client)); !strings.Contains(got, "57P03") {
		t.Errorf("the client got %q; expected FATAL 57P03", got)
	}
}

func TestHalfCloseOfAClientReachesAnUpstreamInsideTLS(t *testing.T) {
	pair := authority.New(t, "CA").Issue(t, authority.Leaf{})
	r := newRigBeforeStartup(t, &counter{}, reaches(pgtls.Upstream{Mode: pgtls.Require}))
	r.send(startup("user", "u", "database", "d"))
	if err := r.takesTLS(shows(pair)); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(startup("user", "u", "database", "d"))
	r.reply(authOK, ready('I'))
	r.toClient(authOK, ready('I'))
	r.send(query("SELECT 1"))
	if err := r.client.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(query("SELECT 1"))
	if got := r.rest(r.upstream); len(got) > 0 {
		t.Fatalf("upstream got %q", got)
	}
	r.reply(complete("SELECT 1"), ready('I'))
	r.toClient(complete("SELECT 1"), ready('I'))
}

func TestSettingsThatCannotMeanAnythingAreRefused(t *testing.T) {
	offer, _ := offers(t)
	for name, change := range map[string][]func(*Settings){
		"TLS required without a certificate":  {requires},
		"passwords without TLS":               {offer, func(s *Settings) { s.AskPassword = true }},
		"a CA to verify that is not there":    {reaches(pgtls.Upstream{Mode: pgtls.VerifyFull})},
		"an upstream without a port, for TLS": {func(s *Settings) { s.Upstream[0].Address = "db" }},
	} {
		s := Settings{Upstream: []Host{{Network: "tcp", Address: "db:5432"}}, IDs: draw.New(&counter{}, nil)}
		for _, f := range change {
			f(&s)
		}
		if _, err := New(s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := pgtls.NewClient(tls.Certificate{}, nil); err == nil {
		t.Error("TLS towards clients without a certificate: accepted")
	}
}

package proxy

import (
	"bytes"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	library "github.com/xdg-go/scram"

	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
)

var askPassword = authMessage(wire.AuthCleartext)

func password(text string) []byte { return message('p', z(text)) }

// asks is a session of a proxy that asks for passwords. Its upstream is in plain text and has the startup packet.
func asks(t *testing.T, change ...func(*Settings)) *rig {
	t.Helper()
	offer, trusted := offers(t)
	change = append(change, offer, requires, func(s *Settings) { s.AskPassword = true })
	r := newRigBeforeStartup(t, &counter{}, change...)
	r.requestsTLS(trusted)
	r.send(startup("user", "u", "database", "d"))
	return r
}

// opened is a session whose startup packet has reached upstream.
func opened(t *testing.T) *rig {
	t.Helper()
	r := newRigBeforeStartup(t, &counter{})
	r.send(startup("user", "u", "database", "d"))
	return r.started()
}

func (r *rig) started() *rig {
	r.t.Helper()
	r.upstream = <-r.arrivals
	r.toUpstream(startup("user", "u", "database", "d"))
	return r
}

func TestAPasswordIsAskedForAndGivenInTheWayUpstreamWants(t *testing.T) {
	negotiate := message('v', []byte{0, 3, 0, 0, 0, 0, 0, 0})
	token := strings.Repeat("x", 60_000)
	for name, c := range map[string]struct{ request, given, proof []byte }{
		"cleartext": {authMessage(wire.AuthCleartext), password("secret"), password("secret")},
		// md5(md5("secret" + "u") + salt), by md5sum.
		"a token of 60 kB": {authMessage(wire.AuthCleartext), password(token), password(token)},
		"md5": {
			authMessage(wire.AuthMD5, []byte("salt")), password("secret"),
			password("md5f0e7c406521852962c8b0cf264d8bcbd"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := asks(t).started()
			r.reply(negotiate, c.request)
			r.toClient(negotiate, askPassword)
			r.send(c.given)
			r.toUpstream(c.proof)
			r.reply(authOK, ready('I'))
			r.toClient(authOK, ready('I'))
			r.answersAgain("1")
			r.relays(query("SELECT 1"), join(dataRow("1"), complete("SELECT 1"), ready('I')))
		})
	}
}

func TestWhatNoPasswordAnswersIsRelayed(t *testing.T) {
	refusal := message('E', z("SFATAL"), z("VFATAL"), z("C28P01"), z("Mno"), []byte{0})
	for name, said := range map[string][]byte{
		"trust": join(authOK, ready('I')), "a refusal": refusal, "GSSAPI": authMessage(7),
		"OAuth": saslOffer("OAUTHBEARER"), "nonsense": message('R', []byte{1}),
	} {
		t.Run(name, func(t *testing.T) {
			r := asks(t).started()
			r.reply(said)
			r.toClient(said)
		})
	}
	t.Run("a refusal of the password", func(t *testing.T) {
		r := asks(t).started()
		r.reply(askPassword)
		r.toClient(askPassword)
		r.send(password("wrong"))
		r.toUpstream(password("wrong"))
		r.reply(refusal)
		r.upstream.Close()
		if got := r.rest(r.client); !bytes.Equal(got, refusal) {
			t.Errorf("the client got %q; expected upstream's own words alone", got)
		}
	})
}

// The postmaster says so in the words of protocol 2 if it cannot start a process.
func TestAnErrorOfProtocol2IsRelayed(t *testing.T) {
	refusal := []byte("Ecould not fork new process for connection: out of processes\n\x00")
	for name, begin := range map[string]func(t *testing.T) *rig{
		"relayed logins": opened, "logins by the proxy": func(t *testing.T) *rig { return asks(t).started() },
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t)
			r.reply(refusal[:9])
			r.toClient(refusal[:9])
			r.reply(refusal[9:])
			r.upstream.Close()
			if got := r.rest(r.client); !bytes.Equal(got, refusal[9:]) {
				t.Errorf("the client got %q; expected upstream's own words alone", got)
			}
			r.proxy.Wait()
			if st := r.proxy.Stats(); st.Closed["refused"] != 1 || st.Logins["refused"] != 1 {
				t.Errorf("after the refusal: %+v", st)
			}
		})
	}
	t.Run("but not what no PostgreSQL says", func(t *testing.T) {
		r := opened(t)
		r.reply([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
		if got := r.rest(r.client); !bytes.Contains(got, []byte("57P03")) {
			t.Errorf("the client got %q; expected FATAL 57P03", got)
		}
	})
	t.Run("nor behind something else", func(t *testing.T) {
		r := opened(t)
		r.reply(authOK, refusal)
		if got := r.rest(r.client); !bytes.Contains(got, []byte("08P01")) {
			t.Errorf("the client got %q; expected FATAL 08P01", got)
		}
	})
}

func TestALoginThatGoesWrongEndsWithAHintAndNeverHangs(t *testing.T) {
	for name, c := range map[string]struct {
		request, answer []byte
		fail            failure
	}{
		"a client that says something else":  {askPassword, query("SELECT 1"), failProtocol},
		"a password of more than 64 kB":      {askPassword, []byte{'p', 0, 1, 0, 4}, failProtocol},
		"a password with a zero in it":       {askPassword, message('p', []byte("a\x00b\x00")), failProtocol},
		"a password without an end":          {askPassword, message('p', []byte("a")), failProtocol},
		"a password that is no message":      {askPassword, []byte{'p', 0, 0, 0, 1}, failProtocol},
		"an md5 salt of three bytes":         {authMessage(wire.AuthMD5, []byte("sal")), password("x"), failProof},
		"an upstream that offers PLUS alone": {saslOffer(scram.Plus), password("x"), failProof},
	} {
		t.Run(name, func(t *testing.T) {
			r := asks(t).started()
			r.reply(c.request)
			r.toClient(askPassword)
			r.send(c.answer)
			r.toClient(fatalMessage(c.fail))
			r.rest(r.upstream)
		})
	}
	t.Run("an upstream that vanishes", func(t *testing.T) {
		r := asks(t).started()
		r.upstream.Close()
		r.toClient(fatalMessage(failUpstreamLost))
	})
	t.Run("a client that vanishes", func(t *testing.T) {
		r := asks(t).started()
		r.reply(askPassword)
		r.toClient(askPassword)
		r.client.(*tls.Conn).NetConn().Close()
		r.rest(r.upstream)
	})
	t.Run("a client that says goodbye", func(t *testing.T) {
		r := asks(t).started()
		r.reply(askPassword)
		r.toClient(askPassword)
		r.send(message('X'))
		r.rest(r.upstream)
	})
	t.Run("a client that says nothing in time", func(t *testing.T) {
		r := asks(t, func(s *Settings) { s.LoginTimeout = 200 * time.Millisecond }).started()
		r.reply(askPassword)
		r.toClient(askPassword, fatalMessage(failLogin))
		r.rest(r.upstream)
	})
	t.Run("a drain", func(t *testing.T) {
		r := asks(t).started()
		r.reply(askPassword)
		r.toClient(askPassword)
		r.proxy.registry.Draining.Store(true)
		r.only().Interrupt()
		r.toClient(fatalMessage(failDraining))
	})
}

// challenged is a session whose client sent its password, and whose upstream answers with a challenge of that many
// iterations.
func challenged(t *testing.T, iterations string) *rig {
	t.Helper()
	r := asks(t).started()
	r.reply(saslOffer(scram.Plain))
	r.toClient(askPassword)
	r.send(password("secret"))
	first := r.frame()
	nonce := first[bytes.LastIndex(first, []byte("r="))+2:]
	r.reply(authMessage(wire.AuthSASLContinue, []byte("r="), nonce, []byte("more,s=c2FsdA==,i="+iterations)))
	return r
}

func TestAnUpstreamThatCannotProveItselfGetsNoSession(t *testing.T) {
	for name, final := range map[string][]byte{
		"a wrong signature": authMessage(wire.AuthSASLFinal, []byte("v=d3Jvbmc=")),
		"no signature":      authOK,
		"an error":          authMessage(wire.AuthSASLFinal, []byte("e=other-error")),
	} {
		t.Run(name, func(t *testing.T) {
			r := challenged(t, "1")
			r.frame()
			r.reply(final)
			r.toClient(fatalMessage(failProof))
		})
	}
}

func TestAnUpstreamThatAsksForEndlessIterationsIsRefusedAtOnce(t *testing.T) {
	r := challenged(t, "2147483647")
	r.toClient(fatalMessage(failProof))
	r.rest(r.upstream)
}

// frame reads one message at upstream and returns its contents.
func (r *rig) frame() []byte {
	r.t.Helper()
	in := frame.NewInbox(r.upstream, frame.NewBuffers())
	f, err := in.Await()
	if err != nil {
		r.t.Fatal(err)
	}
	return bytes.Clone(f.Body)
}

// addressed is a connection to some address.
type addressed struct {
	net.Conn
	to net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.to }

func TestInvariant10APasswordInClearTextIsSentOnlyWhereNobodyElseReads(t *testing.T) {
	for name, c := range map[string]struct {
		conn    net.Conn
		exposed bool
	}{
		"a network":     {addressed{to: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}}, true},
		"loopback":      {addressed{to: &net.TCPAddr{IP: net.IPv6loopback}}, false},
		"a Unix socket": {addressed{to: &net.UnixAddr{}}, false},
	} {
		upstream := upstreamConn{link: link{Conn: c.conn}, to: c.conn}
		if got := upstream.exposed(); got != c.exposed {
			t.Errorf("%s: exposed %v", name, got)
		}
	}
	pair := authority.New(t, "CA").Issue(t, authority.Leaf{})
	r := asks(t, reaches(pgtls.Upstream{Mode: pgtls.Require}))
	if err := r.takesTLS(shows(pair)); err != nil {
		t.Fatal(err)
	}
	r.toUpstream(startup("user", "u", "database", "d"))
	r.reply(askPassword)
	r.toClient(askPassword)
	r.send(password("secret"))
	r.toUpstream(password("secret"))
}

// The library's server side plays PostgreSQL. From version 16 on PostgreSQL can be set to a single iteration.
func TestAServerIsLoggedInToThatIteratesOnce(t *testing.T) {
	client, err := library.SHA256.NewClient("", "secret", "")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := client.GetStoredCredentialsWithError(library.KeyFactors{Salt: "salt", Iters: 1})
	if err != nil {
		t.Fatal(err)
	}
	server, err := library.SHA256.NewServer(func(string) (library.StoredCredentials, error) { return stored, nil })
	if err != nil {
		t.Fatal(err)
	}
	conversation := server.NewConversation()
	r := asks(t).started()
	r.reply(saslOffer(scram.Plain))
	r.toClient(askPassword)
	r.send(password("secret"))
	first := r.frame()
	challenge, err := conversation.Step(string(first[len(scram.Plain)+1+4:]))
	if err != nil {
		t.Fatal(err)
	}
	r.reply(authMessage(wire.AuthSASLContinue, []byte(challenge)))
	final, err := conversation.Step(string(r.frame()))
	if err != nil || !conversation.Valid() {
		t.Fatalf("the proxy's proof is wrong: %v", err)
	}
	r.reply(authMessage(wire.AuthSASLFinal, []byte(final)), authOK, ready('I'))
	r.toClient(authOK, ready('I'))
}

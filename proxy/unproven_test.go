package proxy

import (
	"net"
	"runtime"
	"testing"

	"pgflurry/proxy/scram"
)

// bySocket is a session to an upstream behind a Unix socket. Its startup packet and a statement came in one piece.
func bySocket(t *testing.T, change ...func(*Settings)) *rig {
	t.Helper()
	arrivals := make(chan net.Conn, 1)
	r := newRigBeforeStartup(t, &counter{}, append(change, overUnix(t, arrivals))...)
	r.send(startup("user", "u", "database", "d"), query("DROP TABLE t"))
	r.upstream = <-arrivals
	r.toUpstream(startup("user", "u", "database", "d"))
	return r
}

func TestNobodyGetsInAsTheProxysOwnAccount(t *testing.T) {
	r := bySocket(t)
	negotiate := message('v', []byte{0, 3, 0, 0, 0, 0, 0, 0})
	r.reply(negotiate, authOK, ready('I'))
	r.toClient(negotiate, fatalMessage(failUnproven))
	if got := r.rest(r.upstream); len(got) > 0 {
		t.Errorf("upstream got %q of a client that had proved nothing", got)
	}
}

func TestAnUpstreamThatAsksOrRefusesIsRelayedOverASocket(t *testing.T) {
	t.Run("it asks", func(t *testing.T) {
		r := bySocket(t)
		r.reply(saslOffer(scram.Plain))
		r.toClient(saslOffer(scram.Plain))
		r.toUpstream(query("DROP TABLE t")) // it is PostgreSQL that refuses this in place of a password
		r.reply(authOK, ready('I'))
		r.toClient(authOK, ready('I'))
	})
	t.Run("it refuses", func(t *testing.T) {
		r := bySocket(t)
		r.reply(fatalMessage(failTooMany)) // any ErrorResponse
		r.toClient(fatalMessage(failTooMany))
	})
	t.Run("clients are trusted", func(t *testing.T) {
		r := bySocket(t, func(s *Settings) { s.UnixUpstreamTrustsClients = true })
		r.toUpstream(query("DROP TABLE t"))
		r.reply(authOK, ready('I'))
		r.toClient(authOK, ready('I'))
	})
}

func TestAPasswordThatNobodyAskedForProvesNothing(t *testing.T) {
	offer, trusted := offers(t)
	arrivals := make(chan net.Conn, 1)
	r := newRigBeforeStartup(t, &counter{}, offer, requires, overUnix(t, arrivals),
		func(s *Settings) { s.AskPassword = true })
	r.requestsTLS(trusted)
	r.send(startup("user", "u"))
	r.upstream = <-arrivals
	r.toUpstream(startup("user", "u"))
	r.reply(authOK, ready('I'))
	r.toClient(fatalMessage(failUnproven))
}

func TestTheProxysOwnAccountIsKnownByItsSocket(t *testing.T) {
	front, err := net.Listen("unix", t.TempDir()+"/front")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	for _, at := range []net.Listener{front, listen(t)} {
		client, err := net.Dial(at.Addr().Network(), at.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		conn, err := at.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if own := isOwnAccount(conn); own != (at == front && runtime.GOOS == "linux") {
			t.Errorf("a client by %s is of the proxy's own account: %v", at.Addr().Network(), own)
		}
		at.Close()
	}
	if isOwn(unmapped) {
		t.Error("an account of another namespace of users is taken for the proxy's own")
	}
}

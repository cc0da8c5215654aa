package proxy

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"strings"
	"testing"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
)

// saslOffer is a request for SASL authentication.
func saslOffer(mechanisms ...string) []byte {
	return authMessage(wire.AuthSASL, z(strings.Join(mechanisms, "\x00")), []byte{0})
}

// saslFirst is a client's first SCRAM message.
func saslFirst(mechanism, flag string) []byte {
	data := flag + ",,n=,r=abc"
	return message('p', z(mechanism), binary.BigEndian.AppendUint32(nil, uint32(len(data))), []byte(data))
}

func TestPlusIsCutAndTheFlagDecides(t *testing.T) {
	for name, c := range map[string]struct {
		first   []byte
		refused bool
	}{
		"n passes":             {saslFirst(scram.Plain, "n"), false},
		"y is refused":         {saslFirst(scram.Plain, "y"), true},
		"p is refused":         {saslFirst(scram.Plus, "p=tls-server-end-point"), true},
		"a torn one passes":    {message('p', z(scram.Plain), []byte{0, 0}), false},
		"a password passes":    {message('p', z("secret")), false},
		"another method's too": {saslFirst("OTHER", "y"), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := opened(t)
			negotiate := message('v', []byte{0, 3, 0, 0, 0, 0, 0, 0})
			r.reply(negotiate, saslOffer(scram.Plus, scram.Plain))
			r.toClient(negotiate, saslOffer(scram.Plain))
			r.send(c.first)
			if c.refused {
				r.toClient(fatalMessage(failBinding))
				if got := r.rest(r.upstream); len(got) > 0 {
					t.Errorf("upstream got %q; expected the end", got)
				}
				return
			}
			r.toUpstream(c.first)
			r.reply(authOK, ready('I'))
			r.toClient(authOK, ready('I'))
			r.answersAgain("1")
		})
	}
}

func TestAnOfferWithoutPlusIsRelayedAndSoIsTheFlagY(t *testing.T) {
	r := opened(t)
	r.reply(saslOffer(scram.Plain))
	r.toClient(saslOffer(scram.Plain))
	r.send(saslFirst(scram.Plain, "y"))
	r.toUpstream(saslFirst(scram.Plain, "y"))
}

func TestAnOfferOfPlusAloneEndsTheSessionWithAHint(t *testing.T) {
	r := opened(t)
	r.reply(saslOffer(scram.Plus))
	r.toClient(fatalMessage(failBinding))
}

func TestTheOfferOfPlusPassesWhereBothSidesShowOneCertificate(t *testing.T) {
	ca := authority.New(t, "CA")
	one := ca.Issue(t, authority.Leaf{Hosts: []string{"proxy.test"}})
	other := ca.Issue(t, authority.Leaf{Hosts: []string{"proxy.test"}})
	trusted := &tls.Config{RootCAs: ca.Pool(), ServerName: "proxy.test"}
	for _, pair := range []authority.Pair{one, other} {
		offer, err := pgtls.NewClient(one.TLS, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.ClientTLS = offer },
			reaches(pgtls.Upstream{Mode: pgtls.Require}))
		r.requestsTLS(trusted)
		r.send(startup("user", "u", "database", "d"))
		if err := r.takesTLS(shows(pair)); err != nil {
			t.Fatal(err)
		}
		r.toUpstream(startup("user", "u", "database", "d"))
		r.reply(saslOffer(scram.Plus, scram.Plain))
		if bytes.Equal(pair.Cert, other.Cert) {
			r.toClient(saslOffer(scram.Plain))
			continue
		}
		r.toClient(saslOffer(scram.Plus, scram.Plain))
		r.send(saslFirst(scram.Plus, "p=tls-server-end-point"))
		r.toUpstream(saslFirst(scram.Plus, "p=tls-server-end-point"))
	}
}

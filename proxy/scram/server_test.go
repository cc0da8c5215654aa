package scram

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"pgflurry/internal/fault"
	"pgflurry/tests/support/authority"
)

// verifier makes a Verifier of a password.
func verifier(t testing.TB, password string) Verifier {
	t.Helper()
	v, err := NewVerifier(password, 1)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// seen returns a certificate, and the TLS state of a client that sees it.
func seen(t testing.TB) ([]byte, *tls.ConnectionState) {
	t.Helper()
	pair := authority.New(t, "ca").Issue(t, authority.Leaf{})
	return pair.TLS.Certificate[0], &tls.ConnectionState{PeerCertificates: parsed(t, pair.TLS.Certificate[0])}
}

// Exchange is exchange for the tests of package scram_test.
var Exchange = exchange

// exchange runs the exchange of our client with a server.
func exchange(server *Server, password string, state *tls.ConnectionState) error {
	offered := []byte(strings.Join(server.Mechanisms(), "\x00") + "\x00\x00")
	client, err := NewClient(offered, password, state)
	if err != nil {
		return err
	}
	if err := server.Choose(client.Mechanism()); err != nil {
		return err
	}
	said := ""
	for range 2 {
		if said, err = client.Step(said); err != nil {
			return err
		}
		answer, err := server.Step([]byte(said))
		if err != nil {
			return err
		}
		said = string(answer)
	}
	_, err = client.Step(said) // the server's own proof
	return err
}

func TestAClientThatKnowsThePasswordGetsInAndNoOther(t *testing.T) {
	certificate, state := seen(t)
	v := verifier(t, "right")
	for name, c := range map[string]struct {
		binding Binding
		state   *tls.ConnectionState
	}{
		"without TLS": {},
		"bound":       {NewBinding(certificate), state},
		"TLS with a certificate that cannot be bound to": {Binding{}, state},
	} {
		server := NewServer(v, c.binding)
		if err := exchange(server, "right", c.state); err != nil || !server.Done() {
			t.Errorf("%s: the right password: %v, done %v", name, err, server.Done())
		}
		server = NewServer(v, c.binding)
		if err := exchange(server, "wrong", c.state); err != ErrProof || server.Done() {
			t.Errorf("%s: a wrong password: %v, done %v; expected %v", name, err, server.Done(), ErrProof)
		}
	}
}

func TestScramInvariant4AClientThatSeesAnotherCertificateOrNoBindingIsRefused(t *testing.T) {
	certificate, state := seen(t)
	_, another := seen(t)
	v, binding := verifier(t, "right"), NewBinding(certificate)
	var refused fault.Error
	if err := exchange(NewServer(v, binding), "right", another); !errors.As(err, &refused) ||
		refused.SQLState != "28000" || !strings.Contains(refused.Message, "binding check failed") {
		t.Errorf("a client that sees another certificate: %v", err)
	}
	server := NewServer(v, binding)
	client, err := NewClient([]byte(Plain+"\x00\x00"), "right", state) // somebody removed PLUS
	if err != nil {
		t.Fatal(err)
	}
	first, err := client.Step("")
	if err != nil || server.Choose(client.Mechanism()) != nil {
		t.Fatal(err)
	}
	if _, err := server.Step([]byte(first)); !errors.As(err, &refused) || refused.SQLState != "28000" ||
		!strings.Contains(refused.Message, "negotiation error") {
		t.Errorf("a client from which the offer was kept: %v", err)
	}
}

func TestScramInvariant2TheNameInSCRAMMeansNothing(t *testing.T) {
	for _, name := range []string{"", "*", "another", "=2C=3D", strings.Repeat("n", 900)} {
		server := NewServer(verifier(t, "right"), Binding{})
		if err := server.Choose(Plain); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Step([]byte("n,,n=" + name + ",r=abc")); err != nil {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestScramInvariant3AnExchangeIsBounded(t *testing.T) {
	begun := func() *Server {
		server := NewServer(verifier(t, "right"), Binding{})
		if err := server.Choose(Plain); err != nil {
			t.Fatal(err)
		}
		return server
	}
	for name, message := range map[string]string{
		"a long name":  "n,,n=" + strings.Repeat("n", 1020) + ",r=abc",
		"a long nonce": "n,,n=,r=" + strings.Repeat("n", 1020),
		"nothing":      "",
		"a zero byte":  "n,,n=\x00,r=abc",
	} {
		server := begun()
		var refused fault.Error
		if _, err := server.Step([]byte(message)); !errors.As(err, &refused) || refused.SQLState != "08P01" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := server.Step([]byte("n,,n=,r=abc")); err == nil {
			t.Errorf("%s: the exchange goes on after it", name)
		}
	}
	server := NewServer(verifier(t, "right"), Binding{})
	if _, err := server.Step([]byte("n,,n=,r=abc")); err == nil {
		t.Error("an exchange begins before its mechanism was chosen")
	}
	if err := exchange(server, "right", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Step([]byte("n,,n=,r=abc")); err == nil {
		t.Error("an exchange goes on behind its end")
	}
}

func TestAMockGivesANameTheSameSaltAndLetsNobodyIn(t *testing.T) {
	secret := []byte("secret")
	salts := make(map[string]string)
	for _, name := range []string{"a", "b", "salt"} {
		v := Mock(secret, name, 4096)
		salts[v.stored.Salt] = name
		if again := Mock(secret, name, 4096); again.stored.Salt != v.stored.Salt || len(v.stored.Salt) != saltSize {
			t.Errorf("the salt of %q is %x, then %x", name, v.stored.Salt, again.stored.Salt)
		}
		if other := Mock([]byte("other"), name, 4096); other.stored.Salt == v.stored.Salt {
			t.Errorf("the salt of %q does not depend on the secret", name)
		}
		if err := exchange(NewServer(v, Binding{}), "", nil); err != ErrProof {
			t.Errorf("the mock of %q: %v", name, err)
		}
	}
	if len(salts) != 3 {
		t.Errorf("three names have the salts %q", salts)
	}
	// Not even a client that knows the keys gets in.
	known := verifier(t, "right")
	known.mock = true
	if err := exchange(NewServer(known, Binding{}), "right", nil); err != ErrProof {
		t.Errorf("a mock with a password: %v", err)
	}
}

func TestScramInvariant1AVerifierIsReadExactlyAsPostgreSQLWritesIt(t *testing.T) {
	v := verifier(t, "right")
	text := v.Text()
	again, err := ParseVerifier(text)
	if err != nil || again.Text() != text || again.Iterations() != 1 {
		t.Fatalf("%v is read as %v, %v", v, again, err)
	}
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, text := range map[string]string{
		"an md5 hash":          "md5" + strings.Repeat("0", 32),
		"it may be a password": "secret",
		"a number":             "SCRAM-SHA-256$0:c2FsdA==$" + key + ":" + key,
		"a long number":        "SCRAM-SHA-256$1000000000:c2FsdA==$" + key + ":" + key,
		"a sign":               "SCRAM-SHA-256$+1:c2FsdA==$" + key + ":" + key,
		"no salt":              "SCRAM-SHA-256$1:$" + key + ":" + key,
		"a salt without end":   "SCRAM-SHA-256$1:c2FsdA$" + key + ":" + key,
		"bits behind the end":  "SCRAM-SHA-256$1:c2FsdB==$" + key + ":" + key,
		"a line feed":          "SCRAM-SHA-256$1:c2Fs\ndA==$" + key + ":" + key,
		"one key":              "SCRAM-SHA-256$1:c2FsdA==$" + key,
		"a short key":          "SCRAM-SHA-256$1:c2FsdA==$" + key + ":c2FsdA==",
		"something behind":     text + " ",
		"two":                  text + text,
		"a long salt":          "SCRAM-SHA-256$1:" + strings.Repeat("c2Fs", 200) + "$" + key + ":" + key,
		"another hash":         "SCRAM-SHA-512$1:c2FsdA==$" + key + ":" + key,
		"nothing":              "",
	} {
		v, err := ParseVerifier(text)
		if err == nil || !v.IsZero() {
			t.Errorf("%s: read as %v, error %v", name, v, err)
		} else if strings.Contains(err.Error(), "c2Fs") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats the text: %v", name, err)
		}
	}
}

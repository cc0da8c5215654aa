package scram

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math/big"
	"testing"

	"pgflurry/internal/fault"
)

func FuzzScramInvariant3NoMessagesLetAStrangerIn(f *testing.F) {
	certificate, _ := seen(f)
	v, binding := verifier(f, "right"), NewBinding(certificate)
	f.Add(Plain, []byte("n,,n=,r=abc"), []byte("c=biws,r=abc,p=AAAA"))
	f.Add(Plus, []byte("p=tls-server-end-point,,n=,r=abc"), []byte("c=cD10bHMtc2VydmVyLWVuZC1wb2ludCws,r=abc,p="))
	f.Add(Plain, []byte("y,a=b,m=c,n==2C,r=,x=y"), []byte(",,,"))
	f.Fuzz(func(t *testing.T, mechanism string, first, last []byte) {
		server := NewServer(v, binding)
		err := server.Choose(mechanism)
		for _, message := range [][]byte{first, last, last} {
			var refused fault.Error
			if err != nil && !errors.Is(err, ErrProof) && !errors.As(err, &refused) {
				t.Fatalf("the error %v is of no kind", err)
			}
			answer, next := server.Step(message)
			if err != nil && next == nil {
				t.Fatalf("the exchange goes on behind %v", err)
			}
			if next == nil && len(answer) > 2*maxMessage {
				t.Fatalf("an answer of %d bytes", len(answer))
			}
			if server.Done() {
				t.Fatal("a stranger is let in")
			}
			err = next
		}
	})
}

func TestACertificateWhoseSignatureDefinesNoHashIsNotBoundTo(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	for name, der := range map[string][]byte{"Ed25519": certificate, "none": nil, "broken": certificate[:9]} {
		server := NewServer(verifier(t, "right"), NewBinding(der))
		if offered := server.Mechanisms(); len(offered) != 1 || offered[0] != Plain {
			t.Errorf("%s: the server offers %q", name, offered)
		}
	}
}

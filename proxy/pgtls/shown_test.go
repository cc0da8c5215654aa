package pgtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"pgflurry/tests/support/authority"
)

func TestAConnectionHasBothCertificates(t *testing.T) {
	ca := authority.New(t, "ca")
	own, theirs := ca.Issue(t, authority.Leaf{}), ca.Issue(t, authority.Leaf{CommonName: "ann"})
	for name, cas := range map[string]*x509.CertPool{"asked for one": ca.Pool(), "not asked": nil} {
		offer, err := NewClient(own.TLS, cas)
		if err != nil {
			t.Fatal(err)
		}
		far, near := net.Pipe()
		done := make(chan error, 1)
		client := tls.Client(far, &tls.Config{
			InsecureSkipVerify: true, Certificates: []tls.Certificate{theirs.TLS}, MaxVersion: tls.VersionTLS12,
		})
		go func() { done <- client.Handshake() }()
		conn, err := offer.Accept(near, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(conn.(Conn).Certificate(), client.ConnectionState().PeerCertificates[0].Raw) {
			t.Errorf("a client that is %s sees another certificate", name)
		}
		switch shown := conn.(Conn).ClientCertificate(); {
		case cas == nil && shown != nil:
			t.Errorf("a client that is %s has shown that of %s", name, shown.Subject)
		case cas != nil && (shown == nil || shown.Subject.CommonName != "ann"):
			t.Errorf("a client that is %s has shown %v", name, shown)
		}
		far.Close()
		near.Close()
	}
}

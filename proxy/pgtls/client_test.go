package pgtls

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
	"time"
)

// longChain is a client's certificate and three CAs above it, each of 4096 bits, and the pool of the last one.
func longChain(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 4096) // one for all, since it takes a second
	if err != nil {
		t.Fatal(err)
	}
	made := tls.Certificate{PrivateKey: key}
	var parent *x509.Certificate
	for i := range 4 {
		c := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i)),
			Subject: pkix.Name{
				CommonName: string(rune('a' + i)), Organization: []string{"an organization of some length"},
			},
			IsCA: i < 3, BasicConstraintsValid: true,
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		}
		if parent == nil {
			parent = c
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		if parent, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
		made.Certificate = append([][]byte{der}, made.Certificate...)
		if i == 0 {
			made.Leaf = parent
		}
	}
	cas := x509.NewCertPool()
	cas.AddCert(made.Leaf)
	made.Leaf = nil
	return made, cas
}

func TestAClientWithALongChainOfLargeCertificatesGetsIn(t *testing.T) {
	chain, cas := longChain(t)
	offer, err := NewClient(chain, cas)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client, far := net.Pipe()
		go func() {
			_ = tls.Client(client, &tls.Config{
				Certificates: []tls.Certificate{chain}, InsecureSkipVerify: true, MaxVersion: version,
			}).Handshake()
			_, _ = io.Copy(io.Discard, client)
		}()
		beneath := &handshaking{Conn: far, most: maxClientHandshake}
		if err := tls.Server(beneath, offer.config).Handshake(); err != nil || beneath.read > maxClientHandshake/2 {
			t.Errorf("TLS %x: after %d bytes: %v; expected success within half of %d",
				version, beneath.read, err, maxClientHandshake)
		}
		client.Close()
		far.Close()
	}
}

// pieces is a connection whose other side sends one piece after the other.
type pieces struct {
	net.Conn
	said []string
	room int // the largest read so far
}

func (p *pieces) Read(b []byte) (int, error) {
	p.room = max(p.room, len(b))
	if len(p.said) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.said[0])
	if p.said[0] = p.said[0][n:]; p.said[0] == "" {
		p.said = p.said[1:]
	}
	return n, nil
}

func TestAHelloIsReadAsItComesAndNotPastItsRecord(t *testing.T) {
	record := "\x16\x03\x01\x00\x03abc"
	for name, c := range map[string]struct {
		begun, want string
		said        []string
		fails       bool
	}{
		"whole": {said: []string{record}, want: record},
		"in pieces, and more": {
			begun: record[:2], said: []string{record[2:4], record[4:] + "more"}, want: record,
		},
		"begun with more":           {begun: record + "more", want: record + "more"},
		"of something else":         {said: []string{"GET / HTTP/1.1"}, want: "GET /"},
		"cut":                       {said: []string{record[:6]}, fails: true},
		"longer than any handshake": {said: []string{"\x16\x03\x01\xff\xff"}, want: "\x16\x03\x01\xff\xff"},
	} {
		conn := &pieces{said: c.said}
		got, err := ReadHello(conn, []byte(c.begun))
		if errors.As(err, new(HandshakeError)) != c.fails || string(got) != c.want {
			t.Errorf("%s: %q, %v; expected %q", name, got, err, c.want)
		}
		if conn.room > helloSize {
			t.Errorf("%s: memory for %d bytes before they came", name, conn.room)
		}
	}
	if _, err := ReadHello(&pieces{}, nil); err != io.EOF {
		t.Errorf("a client that leaves without a word: %v; expected io.EOF", err)
	}
}

// Package authority makes certificates for tests: a CA, and certificates that it signs.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a CA.
type Authority struct {
	PEM         []byte
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// New makes a CA. Nobody trusts it yet.
func New(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t)}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate, a.PEM = sign(t, template, template, &a.key.PublicKey, a.key)
	return a
}

// Pool returns a pool that holds only this CA.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Leaf is the content of a certificate. The zero value is valid for a day, for a server and a client, and names nobody.
type Leaf struct {
	CommonName string
	More       []string // further common names
	Hosts      []string // names and IP addresses
	Expired    bool
	Valid      time.Duration // from now; zero: a day
}

// Pair is a certificate with its key.
type Pair struct {
	Cert, Key []byte // PEM
	TLS       tls.Certificate
}

// Issue signs a certificate.
func (a *Authority) Issue(t testing.TB, leaf Leaf) Pair {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: leaf.CommonName},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range append([]string{leaf.CommonName}, leaf.More...) {
		if len(leaf.More) > 0 {
			part := pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: name}
			template.Subject.ExtraNames = append(template.Subject.ExtraNames, part)
		}
	}
	if leaf.Valid > 0 {
		template.NotAfter = time.Now().Add(leaf.Valid)
	}
	if leaf.Expired {
		template.NotAfter = time.Now().Add(-time.Hour)
	}
	for _, host := range leaf.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	_, cert := sign(t, template, a.certificate, &key.PublicKey, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pair := Pair{Cert: cert, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}
	if pair.TLS, err = tls.X509KeyPair(pair.Cert, pair.Key); err != nil {
		t.Fatal(err)
	}
	return pair
}

// Write puts the pair into NAME.crt and NAME.key of a folder.
func (p Pair) Write(t testing.TB, dir, name string) (cert, key string) {
	t.Helper()
	return Write(t, dir, name+".crt", p.Cert), Write(t, dir, name+".key", p.Key)
}

// Write writes a file that only its owner may read, and returns its path.
func Write(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(
	t testing.TB, template, parent *x509.Certificate, public *ecdsa.PublicKey, by *ecdsa.PrivateKey,
) (*x509.Certificate, []byte) {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-48 * time.Hour)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(24 * time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

package clients

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/server"
)

// certified gives the package's server a certificate for 127.0.0.1 and localhost of a CA made for this test, and returns the
// CA's file and the certificate's, which holds its key too.
func certified(t *testing.T) (ca, both string) {
	t.Helper()
	cluster := server.Cluster(t)
	dir := t.TempDir()
	authority, authorityKey := certificate(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "CA of the tests"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	leaf, key := certificate(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, authorityKey)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	ca, both = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "server.pem")
	write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw}))
	content := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})...)
	write(t, both, content)

	// PostgreSQL insists on a key that its own user owns.
	theirs := filepath.Join(cluster.Data, "clients.pem")
	write(t, theirs, content)
	info, err := os.Stat(cluster.Data)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(theirs, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"ssl_cert_file = 'clients.pem'", "ssl_key_file = 'clients.pem'", "ssl = on"} {
		server.Exec(t, cluster.URL("postgres"), "ALTER SYSTEM SET "+setting)
	}
	server.Exec(t, cluster.URL("postgres"), "SELECT pg_reload_conf()")
	offersTLS(t, cluster.URL("postgres"))
	return ca, both
}

// offersTLS waits for the reload, which every new session sees once the postmaster has done it.
func offersTLS(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(giveUp); ; {
		config, err := pgx.ParseConfig(url + "&sslmode=require")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.ConnectConfig(context.Background(), config)
		if err == nil {
			conn.Close(context.Background())
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not offer TLS: %v", err)
		}
	}
}

// certificate signs a template, or lets it sign itself.
func certificate(t *testing.T, template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

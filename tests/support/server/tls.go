package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
)

// TLS has the certificate that a server shows, and decides whom the server lets in.
type TLS struct {
	Cert, Key []byte // PEM
	ClientCA  []byte // PEM; nil: the server asks for no client certificates
	HBA       string // lines before those in pg_hba.conf
}

// EnableTLS switches TLS on in a private cluster, or changes the certificate. It returns when new sessions see the
// change. HBA replaces the lines of an earlier call.
func EnableTLS(t testing.TB, cluster *postgres.Cluster, s TLS) {
	t.Helper()
	pair, err := tls.X509KeyPair(s.Cert, s.Key)
	if err != nil {
		t.Fatal(err)
	}
	place(t, cluster, "test.crt", s.Cert)
	place(t, cluster, "test.key", s.Key)
	place(t, cluster, "test.ca", s.ClientCA)
	place(t, cluster, "pg_hba.conf", []byte(s.HBA+hba))
	settings := []string{"ssl_cert_file = 'test.crt'", "ssl_key_file = 'test.key'", "ssl_ca_file = ''", "ssl = on"}
	if s.ClientCA != nil {
		settings[2] = "ssl_ca_file = 'test.ca'"
	}
	for _, setting := range settings {
		Exec(t, cluster.URL("postgres"), "ALTER SYSTEM SET "+setting)
	}
	Exec(t, cluster.URL("postgres"), "SELECT pg_reload_conf()")
	for deadline := time.Now().Add(time.Minute); !bytes.Equal(shown(cluster), pair.Certificate[0]); {
		if time.Now().After(deadline) {
			t.Fatal("PostgreSQL does not show the certificate it was told to; its log says why: " + cluster.Log)
		}
	}
}

// place writes a file into the data folder, for the server's user.
func place(t testing.TB, cluster *postgres.Cluster, name string, content []byte) {
	t.Helper()
	path := filepath.Join(cluster.Data, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(cluster.Data)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
}

// shown returns the certificate that a new session sees, or nil.
func shown(cluster *postgres.Cluster) (certificate []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	config, err := pgx.ParseConfig(cluster.URL("postgres"))
	if err != nil {
		return nil
	}
	config.TLSConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		certificate = state.PeerCertificates[0].Raw
		return nil
	}}
	if conn, err := pgx.ConnectConfig(ctx, config); err == nil {
		closeConn(conn)
	}
	return certificate
}

package tls

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// serve starts the product with these flags, and returns it and its address.
func serve(t *testing.T, direct string, flags ...string) (*program.Process, string) {
	t.Helper()
	p := program.Start(t, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--upstream", server.Parse(t, direct).Host, "--lease-database", direct,
		"--node", t.Name(),
	}, flags...)...)
	_, address, _ := strings.Cut(p.Line("msg=listening"), "address=")
	address, _, _ = strings.Cut(address, " ")
	return p, address
}

// What libpq sends when it does not take a certificate reads as a "bad record MAC" for Go.
func TestTheLogSaysThatAClientDoesNotTrustTheCertificateOrThatItHasExpired(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	past := local
	past.Expired = true
	for why, leaf := range map[string]authority.Leaf{
		"most often it does not trust the certificate": local,
		"the certificate has expired at":               past,
	} {
		dir := t.TempDir()
		cert, key := s.proxyCA.Issue(t, leaf).Write(t, dir, "proxy")
		p, address := serve(t, direct, "--client-tls", "require", "--client-tls-cert", cert, "--client-tls-key", key)
		other := authority.Write(t, dir, "other.pem", authority.New(t, "another CA").PEM)
		at := with("postgres://postgres@"+address+server.Parse(t, direct).Path,
			"sslmode=verify-full", "sslrootcert="+other)
		if out, err := exec.Command("psql", at, "-XAt", "-c", "SELECT 1").CombinedOutput(); err == nil {
			t.Errorf("psql takes a certificate of an unknown authority: %s", out)
		}
		if line := p.Line("connection refused"); !strings.Contains(line, "the client broke off") ||
			!strings.Contains(line, why) {
			t.Errorf("the log says %s; expected %q", line, why)
		}
	}
}

func TestServeReloadsItsCertificateAndTheCAOfClientsWithoutTouchingSessions(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	dir := t.TempDir()
	cert, key := s.proxyCA.Issue(t, local).Write(t, dir, "proxy")
	clientCA := authority.Write(t, dir, "clients.pem", s.clientCA.PEM)
	p, address := serve(t, direct, "--client-tls", "require", "--client-tls-cert", cert, "--client-tls-key", key,
		"--client-tls-ca", clientCA)
	p.Line("worker acquired")
	at := "postgres://postgres@" + address + server.Parse(t, direct).Path
	old := client{ca: s.proxyCA, own: s.clientCA}
	first := old.connect(t, at)
	draw := func() {
		t.Helper()
		var id int64
		if err := first.QueryRow(t.Context(), ours).Scan(&id); err != nil || id <= 0 {
			t.Fatalf("the session that was open drew %d, %v", id, err)
		}
	}

	// A reload with a file that cannot be used changes nothing. The log says why.
	authority.Write(t, dir, "clients.pem", []byte("no certificate"))
	p.Signal(syscall.SIGHUP)
	line := p.Line("configuration not reloaded: everything stays as it was")
	if !strings.Contains(line, "holds no certificate; expected PEM") {
		t.Errorf("the log says %s", line)
	}
	draw()
	old.connect(t, at)

	// Everything is new: the proxy no longer shows a certificate of its old CA, and no longer accepts client
	// certificates of the old one.
	nextProxy, nextClients := authority.New(t, "next proxy CA"), authority.New(t, "next client CA")
	authority.Write(t, dir, "clients.pem", nextClients.PEM)
	nextProxy.Issue(t, local).Write(t, dir, "proxy")
	p.Signal(syscall.SIGHUP)
	p.Line("configuration reloaded", "changed=nothing", "tls_files=\"read again\"")
	draw()
	client{ca: nextProxy, own: nextClients}.connect(t, at)
	client{ca: nextProxy, own: s.clientCA}.refused(t, at, "a revoked certificate")
	old.refused(t, at, "a client that trusts the old CA")
	draw()
}

// client is what a client shows and trusts. own may be nil.
type client struct {
	ca, own *authority.Authority
	leaf    authority.Leaf
}

func (c client) dial(t *testing.T, at string) (*pgx.Conn, error) {
	t.Helper()
	config, err := pgx.ParseConfig(with(at, "sslmode=require"))
	if err != nil {
		t.Fatal(err)
	}
	config.TLSConfig = &tls.Config{RootCAs: c.ca.Pool(), ServerName: "localhost"}
	if c.own != nil {
		config.TLSConfig.Certificates = []tls.Certificate{c.own.Issue(t, c.leaf).TLS}
	}
	return pgx.ConnectConfig(t.Context(), config)
}

func (c client) connect(t *testing.T, at string) *pgx.Conn {
	t.Helper()
	conn, err := c.dial(t, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// refused expects a handshake that fails, before PostgreSQL says anything.
func (c client) refused(t *testing.T, at, who string) {
	t.Helper()
	conn, err := c.dial(t, at)
	if err == nil {
		conn.Close(context.Background())
		t.Errorf("%s is let in", who)
	} else if said := new(pgconn.PgError); errors.As(err, &said) || !strings.Contains(err.Error(), "tls") {
		t.Errorf("%s is refused with %v; expected an alert of TLS", who, err)
	}
}

func TestOnlyClientsWithACertificateOfTheCAAreLetIn(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	dir := t.TempDir()
	cert, key := s.proxyCA.Issue(t, local).Write(t, dir, "proxy")
	p, address := serve(t, direct, "--client-tls", "require", "--client-tls-cert", cert, "--client-tls-key", key,
		"--client-tls-ca", authority.Write(t, dir, "clients.pem", s.clientCA.PEM))
	at := "postgres://postgres@" + address + server.Parse(t, direct).Path
	client{ca: s.proxyCA, own: s.clientCA}.connect(t, at)
	client{ca: s.proxyCA}.refused(t, at, "a client without a certificate")
	client{ca: s.proxyCA, own: s.serverCA}.refused(t, at, "a client with another CA's certificate")
	// of equal lines the log has the last one's cause, which may be that of a client before
	expired := client{ca: s.proxyCA, own: s.clientCA, leaf: authority.Leaf{Expired: true}}
	server.Until(t, func() error {
		expired.refused(t, at, "a client whose certificate has expired")
		if !strings.Contains(p.Output(), "certificate has expired") {
			return errors.New("the log does not say that the certificate has expired")
		}
		return nil
	})
}

func TestServeNeedsTLSTowardsAServerThatInsistsOnIt(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	leaser := role(t, direct, "only_tls", "scram-sha-256")
	binder := role(t, direct, "login_scram", "scram-sha-256")
	server.Exec(t, direct, "CALL pgflurry.grant_lease('"+leaser+"'); CALL pgflurry.grant_lease('"+binder+"')")
	plain := "postgres://" + server.Parse(t, direct).Host + server.Parse(t, direct).Path
	lease := with(server.As(t, plain, leaser, "right"), "sslmode=require")
	ca := authority.Write(t, t.TempDir(), "ca.pem", s.serverCA.PEM)
	upstream := server.Parse(t, direct).Host

	without := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--lease-database", lease,
		"--node", "without")
	if line := without.Line("database could not be looked at"); !strings.Contains(line, "--upstream-tls require") {
		t.Errorf("the log has no hint: %s", line)
	}
	within := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--lease-database", lease,
		"--node", "within", "--upstream-tls", "verify-full", "--upstream-tls-ca", ca)
	within.Line("calls are answered from memory")
	bound := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--lease-database",
		with(server.As(t, plain, binder, "right"), "sslmode=require", "channel_binding=require"), "--node", "bound",
		"--upstream-tls", "verify-full", "--upstream-tls-ca", ca)
	bound.Line("calls are answered from memory")
	wrong := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--lease-database", lease,
		"--node", "wrong", "--upstream-tls", "verify-full",
		"--upstream-tls-ca", authority.Write(t, t.TempDir(), "ca.pem", s.proxyCA.PEM))
	if line := wrong.Line("database could not be looked at"); !strings.Contains(line, "unknown authority") ||
		!strings.Contains(line, "--upstream-tls-ca") {
		t.Errorf("the log has no cause or no hint: %s", line)
	}
}

func TestServeWarnsOfAHopelessConfiguration(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	dir := t.TempDir()
	cert, key := s.proxyCA.Issue(t, local).Write(t, dir, "proxy")
	expired, expiredKey := s.proxyCA.Issue(t, authority.Leaf{Expired: true}).Write(t, dir, "expired")
	p, _ := serve(t, direct, "--client-tls-cert", cert, "--client-tls-key", key, "--upstream-tls", "require",
		"--upstream-tls-cert", expired, "--upstream-tls-key", expiredKey)
	for _, line := range []string{
		"TLS on both sides", `hint="Put a new one into the same file, then send SIGHUP."`,
		"lets in whoever reaches the proxy",
	} {
		p.Line("level=WARN", line)
	}
	p, _ = serve(t, direct, "--client-tls", "require", "--client-tls-cert", cert, "--client-tls-key", key,
		"--client-auth", "password", "--upstream-tls", "prefer")
	p.Line("level=WARN", "can ask for the passwords", "verify-full")
}

func TestSIGHUPWithoutTLSEndsNothing(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, server.Migrated(t))
	p.Signal(syscall.SIGHUP)
	p.Line("configuration reloaded", "changed=nothing")
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

func TestAPasswordIsInNoLog(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	scram := role(t, direct, "login_scram", "scram-sha-256")
	dir := t.TempDir()
	cert, key := s.proxyCA.Issue(t, local).Write(t, dir, "proxy")
	p, address := serve(t, direct, "--client-tls", "require", "--client-tls-cert", cert, "--client-tls-key", key,
		"--client-auth", "password", "--upstream-tls", "verify-full",
		"--upstream-tls-ca", authority.Write(t, dir, "ca.pem", s.serverCA.PEM),
		"--log-level", "debug")
	at := "postgres://" + address + server.Parse(t, direct).Path + "?sslmode=require"
	for _, password := range []string{"right", "geheim"} {
		if conn, err := pgx.Connect(t.Context(), server.As(t, at, scram, password)); err == nil {
			conn.Close(t.Context())
		}
	}
	p.Signal(syscall.SIGTERM)
	p.End()
	if log := p.Output(); strings.Contains(log, "geheim") || strings.Contains(log, "right") {
		t.Errorf("the log has a password:\n%s", log)
	}
}

func TestFilesThatCannotBeUsedEndServeWithASentence(t *testing.T) {
	t.Parallel()
	s := secured(t)
	dir := t.TempDir()
	cert, key := s.proxyCA.Issue(t, local).Write(t, dir, "proxy")
	_, otherKey := s.proxyCA.Issue(t, local).Write(t, dir, "other")
	empty := authority.Write(t, dir, "empty.pem", nil)
	closed := filepath.Join(dir, "nothing.pem")
	for name, c := range map[string]struct {
		flags []string
		says  string
	}{
		"a certificate that is not there": {
			[]string{"--client-tls-cert", closed, "--client-tls-key", key}, "--client-tls-cert: open " + closed,
		},
		"a key of another certificate": {
			[]string{"--client-tls-cert", cert, "--client-tls-key", otherKey}, "private key does not match",
		},
		"a CA without a certificate": {
			[]string{"--upstream-tls", "verify-full", "--upstream-tls-ca", empty}, "holds no certificate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Start(t, append([]string{
				"serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:5432", "--lease-database",
				"postgres://u@127.0.0.1/d",
			}, c.flags...)...)
			if code := p.End(); code != 2 || !strings.Contains(p.Output(), c.says) {
				t.Errorf("it ended with %d:\n%s\nexpected %q", code, p.Output(), c.says)
			}
		})
	}
	if _, err := os.Stat(closed); err == nil {
		t.Fatal("the file that is not there is there")
	}
}

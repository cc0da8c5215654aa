package idsessions

import (
	"crypto/x509"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/account"
	"pgflurry/internal/fault"
	"pgflurry/proxy"
	"pgflurry/proxy/idserver"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

// members are accounts by name. A test may replace them.
type members struct {
	mu   sync.Mutex
	list *account.List
}

func (m *members) get() *account.List {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list
}

func (m *members) set(all ...account.Account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = account.NewList(all, []byte("secret"), time.Now())
}

// away returns an address without a PostgreSQL.
func away(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// start runs a proxy with an ID database, whose server is away. It returns the proxy's host:port.
func start(t testing.TB, database string, parameters map[string]string, tls *pgtls.Client,
	change func(*idserver.Settings),
) string {
	t.Helper()
	ids := proxytest.Settings(away(t)).IDs
	settings := idserver.Settings{
		Database: database, IDs: ids, Parameters: func() map[string]string { return parameters },
		Unavailable: func(err error) fault.Error {
			return fault.Error{SQLState: "57P03", Message: err.Error()}
		},
	}
	change(&settings)
	inside, err := idserver.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	p := proxytest.Settings(away(t))
	p.ClientTLS, p.Inside = tls, inside
	var _ proxy.Inside = inside
	address, _ := proxytest.Start(t, p)
	t.Cleanup(func() { inside.Drain(t.Context()) }) // runs first; the context has ended, so it waits for no session
	return address
}

// offer returns the proxy's TLS settings. If asks is true, the proxy asks clients for certificates of ca.
func offer(t testing.TB, ca *authority.Authority, asks bool) *pgtls.Client {
	t.Helper()
	var cas *x509.CertPool
	if asks {
		cas = ca.Pool()
	}
	tls, err := pgtls.NewClient(ca.Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}}).TLS, cas)
	if err != nil {
		t.Fatal(err)
	}
	return tls
}

// verified returns the account of a role of PostgreSQL, with its verifier.
func verified(t testing.TB, conn *pgx.Conn, name string) account.Account {
	t.Helper()
	text := server.Value[string](t, conn, "SELECT rolpassword FROM pg_authid WHERE rolname = $1", name)
	v, err := scram.ParseVerifier(text)
	if err != nil {
		t.Fatal(err)
	}
	return account.Account{Name: name, Verifier: v, ConnectionLimit: account.NoLimit}
}

// with adds parameters to a URL.
func with(url string, parameters ...string) string {
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	return url + separator + strings.Join(parameters, "&")
}

package tls

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/server"
)

// reaching starts a proxy with TLS only towards upstream, and returns the URL through it.
func reaching(t *testing.T, direct string, u pgtls.Upstream) string {
	t.Helper()
	return with(inFront(t, direct, func(s *proxy.Settings) { s.UpstreamTLS = u }), "sslmode=disable")
}

// functionSQL is enough of the function for a client that prepares a call.
const functionSQL = "CREATE FUNCTION next_snowflake() RETURNS bigint LANGUAGE sql RETURN 1"

// refusal connects and returns the error from the proxy or from PostgreSQL.
func refusal(t *testing.T, at string) *pgconn.PgError {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err == nil {
		conn.Close(context.Background())
	}
	said := new(pgconn.PgError)
	if !errors.As(err, &said) {
		t.Fatalf("%v; expected a FATAL", err)
	}
	return said
}

func TestAServerWithoutTLSAndItsCertificatesAreJudgedAsTheModeSays(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	server.Exec(t, direct, functionSQL)
	if err := draws(t, reaching(t, direct, pgtls.Upstream{Mode: pgtls.Prefer}), false); err != nil {
		t.Errorf("a server without TLS, prefer: %v", err)
	}
	if said := refusal(t, reaching(t, direct, pgtls.Upstream{Mode: pgtls.Require})); said.Code != "57P03" ||
		said.Hint == "" {
		t.Errorf("a server without TLS, require: %v with hint %q", said, said.Hint)
	}

	ca, other := authority.New(t, "CA"), authority.New(t, "another CA")
	elsewhere := authority.Leaf{Hosts: []string{"db.example.com"}}
	all := []pgtls.Mode{pgtls.Require, pgtls.VerifyCA, pgtls.VerifyFull}
	for _, c := range []struct {
		name   string
		signer *authority.Authority
		leaf   authority.Leaf
		works  []pgtls.Mode // if the proxy has the CA
	}{
		{"good", ca, local, all},
		{"for another host", ca, elsewhere, []pgtls.Mode{pgtls.Require, pgtls.VerifyCA}},
		{"expired", ca, authority.Leaf{Hosts: local.Hosts, Expired: true}, nil},
		{"of another CA", other, local, nil},
		{"with the host in its common name alone", ca, authority.Leaf{CommonName: "127.0.0.1"}, all},
	} {
		pair := c.signer.Issue(t, c.leaf)
		server.EnableTLS(t, cluster, server.TLS{Cert: pair.Cert, Key: pair.Key})
		for _, mode := range all {
			at := reaching(t, direct, pgtls.Upstream{Mode: mode, CAs: ca.Pool()})
			if slices.Contains(c.works, mode) {
				if err := draws(t, at, true); err != nil {
					t.Errorf("a certificate %s, %v: %v", c.name, mode, err)
				}
			} else if said := refusal(t, at); said.Code != "57P03" ||
				!strings.Contains(said.Hint, "--upstream-tls-ca") {
				t.Errorf("a certificate %s, %v: %v with hint %q", c.name, mode, said, said.Hint)
			}
		}
		if err := draws(t, reaching(t, direct, pgtls.Upstream{Mode: pgtls.Require}), true); err != nil {
			t.Errorf("a certificate %s, require without a CA: %v", c.name, err)
		}
	}
}

func TestPreferUsesPlainTextForWhomPostgreSQLRefusesTLS(t *testing.T) {
	t.Parallel()
	secured(t)
	direct := server.Migrated(t)
	at := reaching(t, direct, pgtls.Upstream{Mode: pgtls.Prefer})
	if err := draws(t, server.As(t, at, role(t, direct, "only_plain", "scram-sha-256"), ""), false); err != nil {
		t.Error(err)
	}
	if err := draws(t, server.As(t, at, role(t, direct, "only_tls", "scram-sha-256"), ""), true); err != nil {
		t.Error(err)
	}
}

func TestTheProxysCertificateLogsInWhereTheServerTakesIt(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	byCert, byBoth := role(t, direct, "login_cert", "scram-sha-256"), role(t, direct, "login_both", "scram-sha-256")
	shows := func(pair *authority.Pair) string {
		u := pgtls.Upstream{Mode: pgtls.VerifyFull, CAs: s.serverCA.Pool()}
		if pair != nil {
			u.Certificate = &pair.TLS
		}
		return reaching(t, direct, u)
	}
	own := s.clientCA.Issue(t, authority.Leaf{CommonName: byCert})
	foreign := s.proxyCA.Issue(t, authority.Leaf{CommonName: byCert})
	if err := draws(t, server.As(t, shows(&own), byCert, ""), true); err != nil {
		t.Error(err)
	}
	if err := draws(t, server.As(t, shows(&own), byBoth, "right"), true); err != nil {
		t.Error(err)
	}
	if said := refusal(t, server.As(t, shows(nil), byCert, "")); said.Code != "28000" {
		t.Errorf("without a certificate: %v; expected PostgreSQL's own 28000", said)
	}
	other := s.clientCA.Issue(t, authority.Leaf{CommonName: "somebody"})
	if said := refusal(t, server.As(t, shows(&other), byCert, "")); said.Code != "28000" {
		t.Errorf("with another user's certificate: %v; expected PostgreSQL's own 28000", said)
	}
	if said := refusal(t, server.As(t, shows(&foreign), byCert, "")); said.Code != "57P03" ||
		!strings.Contains(said.Hint, "--upstream-tls") {
		t.Errorf("with another CA's certificate: %v with hint %q; expected 57P03", said, said.Hint)
	}
}

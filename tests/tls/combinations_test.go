package tls

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

// leg is the protection of one side of a proxy.
type leg int

const (
	plain leg = iota
	inside
	same // inside TLS, with the server's own certificate
)

func (l leg) String() string {
	return [...]string{"plain", "TLS", "TLS with the server's certificate"}[l]
}

// combination is a row of the table in docs/network.md.
type combination struct {
	client   leg
	upstream bool // inside TLS
	asks     bool // --client-auth password
	// The outcome with SCRAM, for three clients: one uses channel binding where it can, one never does, one insists on
	// it.
	binds, never, insists outcome
}

type outcome int

const (
	works     outcome = iota
	hinted            // FATAL 28000 with a hint
	clientsNo         // the client itself refuses
)

var combinations = []combination{
	{client: plain, upstream: false, insists: clientsNo},
	{client: inside, upstream: false, insists: clientsNo},
	{client: plain, upstream: true, insists: clientsNo},
	{client: inside, upstream: true, binds: hinted, insists: clientsNo},
	{client: same, upstream: true},
	{client: inside, upstream: true, asks: true, insists: clientsNo},
	{client: inside, upstream: false, asks: true, insists: clientsNo},
}

func (c combination) String() string {
	name := fmt.Sprintf("client %v, upstream plain", c.client)
	if c.upstream {
		name = fmt.Sprintf("client %v, upstream TLS", c.client)
	}
	if c.asks {
		name += ", the proxy asks"
	}
	return name
}

// start starts the proxy of a combination. It returns the URL through it, and the file with the CA of its certificate.
func (c combination) start(t *testing.T, s *stand, direct string) (at, ca string) {
	t.Helper()
	pair, signer := s.proxyCA.Issue(t, local), s.proxyCA
	if c.client == same {
		pair, signer = s.server, s.serverCA
	}
	at = inFront(t, direct, func(settings *proxy.Settings) {
		if c.client != plain {
			settings.ClientTLS, settings.RequireTLS, settings.AskPassword = offer(t, pair), true, c.asks
		}
		if c.upstream {
			settings.UpstreamTLS = pgtls.Upstream{Mode: pgtls.VerifyFull, CAs: s.serverCA.Pool()}
		}
	})
	ca = authority.Write(t, t.TempDir(), "ca.pem", signer.PEM)
	if c.client == plain {
		return with(at, "sslmode=disable"), ca
	}
	return with(at, "sslmode=verify-full", "sslrootcert="+ca), ca
}

// draws logs in, draws an ID from memory, and asks upstream whether its connection has TLS.
func draws(t *testing.T, at string, upstream bool) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var id int64
	if err := conn.QueryRow(t.Context(), ours).Scan(&id); err != nil || id < proxytest.FirstID {
		t.Errorf("drew %d, %v; expected an ID from memory", id, err)
	}
	var seen bool
	err = conn.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&seen)
	if err != nil || seen != upstream {
		t.Errorf("upstream sees TLS: %v, %v; expected %v", seen, err, upstream)
	}
	return nil
}

func (o outcome) check(t *testing.T, who string, err error) {
	t.Helper()
	refused := new(pgconn.PgError)
	told := errors.As(err, &refused)
	switch o {
	case works:
		if err != nil {
			t.Errorf("%s: %v; expected that it works", who, err)
		}
	case hinted:
		if !told || refused.Code != "28000" || !strings.Contains(refused.Hint, "channel_binding=disable") {
			t.Errorf("%s: %v; expected FATAL 28000 with a hint", who, err)
		}
	case clientsNo:
		if err == nil || told && refused.Code != "28P01" {
			t.Errorf("%s: %v; expected that the client refuses", who, err)
		}
	}
}

func TestEveryCombinationOfTheTable(t *testing.T) {
	server.NoLeak(t)
	s := secured(t)
	direct := server.Migrated(t)
	scram := role(t, direct, "login_scram", "scram-sha-256")
	others := map[string]string{
		"md5": role(t, direct, "login_md5", "md5"), "password": role(t, direct, "login_password", "scram-sha-256"),
		"trust": "postgres",
	}
	for _, c := range combinations {
		t.Run(c.String(), func(t *testing.T) {
			at, _ := c.start(t, s, direct)
			as := func(name, password string, more ...string) string {
				return with(server.As(t, at, name, password), more...)
			}
			c.binds.check(t, "pgx with SCRAM", draws(t, as(scram, "right"), c.upstream))
			c.never.check(t, "pgx with SCRAM and channel_binding=disable",
				draws(t, as(scram, "right", "channel_binding=disable"), c.upstream))
			c.insists.check(t, "pgx with SCRAM and channel_binding=require",
				draws(t, as(scram, "right", "channel_binding=require"), c.upstream))
			for method, name := range others {
				works.check(t, "pgx with "+method, draws(t, as(name, "right"), c.upstream))
			}
			for _, name := range []string{scram, others["md5"], others["password"]} {
				_, err := pgx.Connect(t.Context(), as(name, "wrong", "channel_binding=disable"))
				if refused := new(pgconn.PgError); !errors.As(err, &refused) || refused.Code != "28P01" {
					t.Errorf("a wrong password of %s gave %v; expected PostgreSQL's own 28P01", name, err)
				}
			}
			psqlDraws(t, c, as(scram, "right"), c.binds)
			psqlDraws(t, c, as(scram, "right", "channel_binding=disable"), c.never)
			psqlDraws(t, c, as(scram, "right", "channel_binding=require"), c.insists)
			for _, name := range others {
				psqlDraws(t, c, as(name, "right"), works)
			}
		})
	}
}

// psqlDraws is draws with psql, which reads the same URLs.
func psqlDraws(t *testing.T, c combination, at string, want outcome) {
	t.Helper()
	out, err := exec.Command("psql", at, "-XAt", "-c", ours,
		"-c", "SELECT 'upstream ' || ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").CombinedOutput()
	said := string(out)
	switch want {
	case works:
		if err != nil || !strings.Contains(said, fmt.Sprintf("upstream %v", c.upstream)) || len(said) < 30 {
			t.Errorf("psql with %s: %v, it says\n%s", at, err, said)
		}
	case hinted:
		if err == nil || !strings.Contains(said, "SCRAM with channel binding cannot pass") ||
			!strings.Contains(said, "HINT:  Set channel_binding=disable") {
			t.Errorf("psql with %s: %v, it says\n%s", at, err, said)
		}
	case clientsNo:
		if err == nil || !strings.Contains(said, "channel binding") {
			t.Errorf("psql with %s: %v, it says\n%s", at, err, said)
		}
	}
}

package tls

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

// bothSides starts a proxy that requires TLS on both sides. It returns the URL, and a file with the CA of its
// certificate.
func bothSides(t *testing.T, s *stand, direct string) (at, ca string) {
	t.Helper()
	at = inFront(t, direct, func(settings *proxy.Settings) {
		settings.ClientTLS, settings.RequireTLS = offer(t, s.proxyCA.Issue(t, local)), true
		settings.UpstreamTLS = pgtls.Upstream{Mode: pgtls.VerifyFull, CAs: s.serverCA.Pool()}
	})
	return at, authority.Write(t, t.TempDir(), "ca.pem", s.proxyCA.PEM)
}

func TestPgxIsAnsweredInsideTLSInEveryMode(t *testing.T) {
	t.Parallel()
	s := secured(t)
	at, ca := bothSides(t, s, server.Migrated(t))
	seen := make(map[int64]bool)
	for _, negotiation := range []string{"postgres", "direct"} {
		conn := server.Connect(t, with(at, "sslmode=verify-full", "sslrootcert="+ca, "sslnegotiation="+negotiation))
		for _, mode := range []pgx.QueryExecMode{
			pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
			pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
		} {
			for range 50 {
				var id int64
				if err := conn.QueryRow(t.Context(), ours, mode).Scan(&id); err != nil ||
					id < proxytest.FirstID || seen[id] {
					t.Fatalf("%v, %v: drew %d, %v", negotiation, mode, id, err)
				}
				seen[id] = true
			}
		}
		var rows int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM (SELECT repeat('x', 100000) "+
			"FROM generate_series(1, 300)) AS big(x) WHERE length(x) = 100000").Scan(&rows)
		if err != nil || rows != 300 {
			t.Errorf("%d rows, %v", rows, err)
		}
		large := strings.Repeat("x", 20<<20)
		var back string
		if err := conn.QueryRow(t.Context(), "SELECT $1::text", large).Scan(&back); err != nil || back != large {
			t.Errorf("20 MB came back as %d bytes, %v", len(back), err)
		}
	}
}

// psql sends its CancelRequest in plain text before libpq 17, and inside TLS from 17 on. Both have to work.
func TestPsqlCancelsItsQueryInsideTLS(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	at, ca := bothSides(t, s, direct)
	proxytest.PsqlCancels(t, with(at, "sslmode=verify-full", "sslrootcert="+ca), direct)
}

func TestPgxCancelsItsQueryInsideTLSAndGoesOn(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	at, ca := bothSides(t, s, direct)
	proxytest.PgxCancels(t, with(at, "sslmode=verify-full", "sslrootcert="+ca), direct)
}

func TestPsqlIsRefusedInWords(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	at, _ := bothSides(t, s, direct)
	serverCA := authority.Write(t, t.TempDir(), "ca.pem", s.serverCA.PEM)
	without := inFront(t, direct, func(*proxy.Settings) {})
	for url, says := range map[string]string{
		with(at, "sslmode=disable"):                              "HINT:  Set sslmode=require",
		with(at, "sslmode=verify-full", "sslrootcert="+serverCA): "certificate verify failed",
		with(without, "sslmode=require"):                         "server does not support SSL",
	} {
		out, err := exec.Command("psql", url, "-XAt", "-c", "SELECT 1").CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) {
			t.Errorf("psql %s: %v, it says\n%s\nexpected %q", url, err, out, says)
		}
	}
}

// PostgreSQL's JDBC driver before 42.7.4 has no channel binding. So SCRAM works even with TLS on both sides.
func TestTheJDBCDriverIsAnsweredInsideTLS(t *testing.T) {
	t.Parallel()
	if os.Getenv("PGFLURRY_TEST_CLIENTS") == "" {
		t.Skip("PGFLURRY_TEST_CLIENTS does not ask for drivers")
	}
	s := secured(t)
	direct := server.Migrated(t)
	scram := role(t, direct, "login_scram", "scram-sha-256")
	arguments := []string{"-cp", "/usr/share/java/postgresql.jar", "testdata/Draw.java"}
	want := ""
	for _, c := range combinations {
		if c.client == plain {
			continue
		}
		at, ca := c.start(t, s, direct)
		u := server.Parse(t, at)
		arguments = append(arguments,
			fmt.Sprintf("jdbc:postgresql://%s%s?sslmode=verify-full&sslrootcert=%s&user=%s", u.Host, u.Path, ca, scram))
		want += "100 IDs, 99 of them from memory; a query ended with 57014, a wrong password with 28P01\n"
	}
	// The fifth execution prepares by name, in the same batch as Bind and Execute. PostgreSQL answers that one.
	if out, err := exec.Command("java", arguments...).CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v, it says\n%s\nexpected\n%s", err, out, want)
	}
}

func TestASessionThatEndsInsideTLSEndsAtPostgreSQL(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	at, ca := bothSides(t, s, direct)
	look := server.Connect(t, direct)
	conn, err := pgx.Connect(t.Context(), with(at, "sslmode=verify-full", "sslrootcert="+ca, "application_name=ending"))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	server.Eventually(t, look, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'ending')")
}

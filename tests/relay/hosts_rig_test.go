package relay

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A pair is a primary with a standby that follows it.
type pair struct {
	t                *testing.T
	primary, standby *postgres.Cluster
}

func newPair(t *testing.T) *pair {
	t.Helper()
	server.Binaries(t)
	p := &pair{t: t, primary: server.Private(t, nil)}
	server.Migrate(t, p.primary.URL("postgres"), migrations.Settings{})
	p.standby = server.Standby(t, p.primary, "standby", "host=127.0.0.1 port="+fmt.Sprint(p.primary.Port), nil)
	server.Eventually(t, server.Connect(t, p.primary.URL("postgres")),
		"EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')")
	return p
}

// serve runs a proxy in front of these hosts. Its lease database is on the primary, whichever that is.
func (p *pair) serve(upstream string, more ...string) *program.Proxy {
	p.t.Helper()
	return program.Serve(p.t, p.primary.URL("postgres"), "n", append([]string{
		"--upstream", upstream, "--lease-database", p.lease(),
	}, more...)...)
}

// lease returns a connection string with both hosts, the standby first.
func (p *pair) lease() string { return leaseAt(p.standby, p.primary) }

// both returns the list of both hosts, the standby first.
func (p *pair) both() string { return at(p.standby) + "," + at(p.primary) }

func (p *pair) promote() {
	p.t.Helper()
	server.Promote(p.t, p.standby)
}

// failOver freezes the primary and promotes the standby. wake resumes the old primary.
func (p *pair) failOver() (wake func()) {
	p.t.Helper()
	wake = server.Freeze(p.t, p.primary)
	p.promote()
	return wake
}

// at returns the address of a server.
func at(c *postgres.Cluster) string { return fmt.Sprint("127.0.0.1:", c.Port) }

// leadsTo expects that a new session reaches this server.
func leadsTo(t *testing.T, url string, c *postgres.Cluster) {
	t.Helper()
	conn := server.Connect(t, url)
	if port := server.Value[int](t, conn, "SELECT inet_server_port()"); port != c.Port {
		t.Errorf("a new session is at port %d; expected %d", port, c.Port)
	}
}

// ends waits for the end of an idle session, and returns the reason.
func ends(t *testing.T, conn *pgx.Conn) *pgconn.PgError {
	t.Helper()
	_, err := conn.WaitForNotification(server.Within(t))
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		t.Fatalf("the session ended with %v; expected a FATAL", err)
	}
	return said
}

// refusedWith expects that no session begins.
func refusedWith(t *testing.T, url, sqlstate string) {
	t.Helper()
	conn, err := pgx.Connect(server.Within(t), url)
	if err == nil {
		conn.Close(t.Context())
		t.Fatalf("a session began; expected SQLSTATE %s", sqlstate)
	}
	if !strings.Contains(err.Error(), sqlstate) {
		t.Fatalf("a session was refused with %v; expected SQLSTATE %s", err, sqlstate)
	}
}

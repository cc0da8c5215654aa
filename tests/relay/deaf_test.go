//go:build linux

package relay

import (
	"bytes"
	"crypto/tls"
	"io"
	"path/filepath"
	"testing"
	"time"

	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

// A deaf client sends what it has to say, and reads nothing. PostgreSQL ends its backend. The proxy must not keep the
// session, its place, or its connections.
func TestTheSessionOfADeafClientEndsWithItsBackend(t *testing.T) {
	ca := authority.New(t, "proxy CA")
	offer, err := pgtls.NewClient(ca.Issue(t, authority.Leaf{Hosts: []string{"proxy.test"}}).TLS, nil)
	if err != nil {
		t.Fatal(err)
	}
	trusted := &tls.Config{RootCAs: ca.Pool(), ServerName: "proxy.test"}
	answers := bytes.Repeat(query(ours), 1_000_000)
	rows := query("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)")
	for name, c := range map[string]struct {
		says   []byte
		inside bool // TLS
		unix   bool // An end by Unix socket is seen at once. By TCP it comes behind all rows that the kernel holds.
	}{
		"owed answers":             {says: answers},
		"owed answers, inside TLS": {says: answers, inside: true},
		"owed rows":                {says: rows, unix: true},
		"owed rows, inside TLS":    {says: rows, unix: true, inside: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := server.Migrated(t)
			settings := proxytest.Settings(server.Parse(t, direct).Host)
			settings.ClientTLS = offer
			if c.unix {
				settings.UnixUpstreamTrustsClients = true
				socket := ".s.PGSQL." + server.Parse(t, direct).Port()
				path := filepath.Join(server.Cluster(t).SocketDir, socket)
				settings.Upstream = []proxy.Host{{Network: "unix", Address: path}}
			}
			at, p := proxytest.Start(t, settings)
			deaf := dial(t, at)
			says := io.Writer(deaf.conn)
			if c.inside {
				deaf.say([]byte{0, 0, 0, 8, 4, 210, 22, 47}) // SSLRequest
				if agreed, err := deaf.in.ReadByte(); err != nil || agreed != 'S' {
					t.Fatalf("the proxy says %q (%v)", agreed, err)
				}
				within := tls.Client(deaf.conn, trusted)
				deaf.in.Reset(within)
				says = within
			}
			write := func(b []byte) {
				if _, err := says.Write(b); err != nil {
					t.Error(err)
				}
			}
			name := server.Name(t, direct)
			write(hello(version30, "user", "postgres", "database", name, "application_name", name))
			deaf.until('Z')
			go func() { _, _ = says.Write(c.says) }() // ends with the session
			if c.unix {
				for before := int64(-1); before != p.Stats().Relayed["to_client"]; time.Sleep(10 * look) {
					before = p.Stats().Relayed["to_client"]
					blocked(t, direct, name, 1)
				}
			} else {
				for !refused(t, deaf.conn) {
					time.Sleep(look)
				}
			}
			server.Do(t, server.Connect(t, direct),
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = current_database()")
			ended := make(chan struct{})
			go func() { p.Wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatalf("the session goes on: %+v", p.Stats())
			}
			if st := p.Stats(); st.Now != 0 || st.Closed["upstream"] != 1 {
				t.Errorf("after the end: %+v; expected no session, and one that upstream has ended", st)
			}
		})
	}
}

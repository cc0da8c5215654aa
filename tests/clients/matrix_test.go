//go:build full

package clients

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

var update = flag.Bool("update", false, "write the results into docs/clients.md and docs/json.md")

func TestMain(m *testing.M) { server.Main(m) }

func TestEveryDriverSeesTheSameThroughTheProxyAsDirectAndNoIDTwice(t *testing.T) {
	deeds.Wanted(t)
	m := newMatrix(t)
	proxied := m.serve(t, m.direct, "matrix")
	seen := make(map[string]cells)
	for _, d := range drivers {
		t.Run(d.Name, func(t *testing.T) {
			version := m.Asked(t, d.Program, install)
			direct := m.record(t, d, m.direct, allDeeds)
			through := m.record(t, d, proxied.URL, allDeeds)
			compare(t, direct, through)
			seen[d.Name] = rowOf(t, d, version, through)
		})
	}
	if !t.Failed() {
		settle(t, seen)
	}
}

// matrix is what all drivers share: one database, and every ID that any of them has seen.
type matrix struct {
	*deeds.Maker
	direct string // URL
	secure certificates
	roles  []string
	seen   deeds.Seen
}

// newMatrix makes roles of the server, so tests that call it run one after the other.
func newMatrix(t *testing.T) *matrix {
	t.Helper()
	m := &matrix{Maker: deeds.NewMaker(t), seen: make(deeds.Seen)}
	m.direct = server.Migrated(t)
	server.Exec(t, m.direct, setupSQL)
	m.roles = []string{"client_password", "client_scram"}
	cluster := server.Cluster(t)
	t.Cleanup(func() { server.Exec(t, cluster.URL("postgres"), "DROP ROLE "+strings.Join(m.roles, ", ")) })
	m.secure = secured(t)
	return m
}

// serve starts a proxy that the drivers reach with TLS and without.
func (m *matrix) serve(t *testing.T, direct, node string, more ...string) *program.Proxy {
	t.Helper()
	return program.Serve(t, direct, node, append([]string{
		"--client-tls-cert", m.secure.cert, "--client-tls-key", m.secure.key,
	}, more...)...)
}

// certificates are those of the package's server and of its proxies. A CA of the tests signs them, for localhost and
// 127.0.0.1.
type certificates struct{ ca, cert, key string }

// secured switches TLS on in the package's server.
func secured(t *testing.T) certificates {
	t.Helper()
	dir := t.TempDir()
	ca := authority.New(t, "CA of the tests")
	pair := ca.Issue(t, authority.Leaf{CommonName: "localhost", Hosts: []string{"localhost", "127.0.0.1"}})
	server.EnableTLS(t, server.Cluster(t), server.TLS{Cert: pair.Cert, Key: pair.Key})
	c := certificates{ca: authority.Write(t, dir, "ca.pem", ca.PEM)}
	c.cert, c.key = pair.Write(t, dir, "proxy")
	return c
}

// record lets a driver do deeds at one address and records their IDs.
func (m *matrix) record(t *testing.T, d driver, at string, asked []string) []deeds.Line {
	t.Helper()
	lines := m.Run(t, d.Program, asked, m.environment(t, d, at, asked))
	port := server.Parse(t, at).Port()
	for i := range lines {
		m.seen.Note(t, fmt.Sprintf("%s, %s, port %s", d.Name, lines[i].Deed, port), lines[i].IDs)
		lines[i].Result = deeds.Masked(lines[i].Result, port)
	}
	return lines
}

// environment returns the variables for the programs, and makes the table where they need it.
func (m *matrix) environment(t *testing.T, d driver, at string, asked []string) []string {
	t.Helper()
	place := append(server.Environment(t, at), "CLIENT_CA="+m.secure.ca)
	if slices.Equal(asked, allDeeds) {
		server.Exec(t, m.direct, itemSQL)
		return append(place, "CLIENT_ROLE=client_scram")
	}
	return append(place, "PGUSER="+roleOf(d), "CLIENT_ROLE="+roleOf(d), "PGPASSWORD=right", "CLIENT_BARE=1")
}

func compare(t *testing.T, direct, proxied []deeds.Line) {
	t.Helper()
	for i, d := range direct {
		p := proxied[i]
		if d.None != p.None || !reflect.DeepEqual(d.Result, p.Result) {
			t.Errorf("%s:\ndirect  %v %s\nproxied %v %s", d.Deed, d.Result, d.None, p.Result, p.None)
		}
		if len(d.IDs) != len(p.IDs) || d.None == "" && len(d.IDs) != idsOf(d) {
			t.Errorf("%s: %d IDs directly, %d through the proxy; expected %d", d.Deed, len(d.IDs), len(p.IDs), idsOf(d))
		}
		if d.Deed == "parallel" {
			rise(t, d)
			rise(t, p)
		}
		for _, id := range d.IDs {
			if deeds.WorkerOf(t, id) != deeds.DatabaseWorker {
				t.Errorf("%s: the direct connection gave ID %s of worker %d", d.Deed, id, deeds.WorkerOf(t, id))
			}
		}
	}
}

// rise fails unless the IDs of each connection rise. It looks at each worker by itself. A session that mixes answered
// and forwarded calls mixes two workers, so its IDs may step back by the clock error between them.
func rise(t *testing.T, parallel deeds.Line) {
	t.Helper()
	for thousand := range slices.Chunk(parallel.IDs, 1000) {
		last := make(map[int]string)
		for _, id := range thousand {
			if worker := deeds.WorkerOf(t, id); len(id) < len(last[worker]) ||
				len(id) == len(last[worker]) && id <= last[worker] {
				t.Errorf("ID %s came after %s on one connection", id, last[worker])
			}
			last[deeds.WorkerOf(t, id)] = id
		}
	}
}

// idsOf returns how many IDs a deed must give. Where drivers differ, any number is right, but at least one.
func idsOf(l deeds.Line) int {
	switch l.Deed {
	case "password", "scram", "tls":
		return 0
	case "prepared", "mixed":
		return 20
	case "pipeline":
		return 50
	case "commit":
		return 4
	case "pool":
		return 100
	case "parallel":
		return 4000
	}
	return max(1, len(l.IDs))
}

package clients

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

var update = flag.Bool("update", false, "write the results into docs/clients.md")

func TestMain(m *testing.M) { program.Main(m) }

func TestEveryDriverSeesTheSameThroughTheProxyAsDirectAndNoIDTwice(t *testing.T) {
	wanted(t)
	m := newMatrix(t)
	proxied := m.serve(t, m.direct, "matrix")
	ids, others := make(rows), make(rows)
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			version := m.asked(t, d)
			direct := m.visit(t, d, m.direct, deeds)
			through := m.visit(t, d, proxied.URL, deeds)
			compare(t, direct, through)
			all := marks(t, through)
			ids[d.name] = slices.Concat(
				[]string{d.name}, marksOf(deeds, all, idDeeds), []string{remarks(d.remark, through)})
			others[d.name] = slices.Concat([]string{d.name, version}, marksOf(deeds, all, otherDeeds))
		})
	}
	if !t.Failed() {
		settle(t, tables{idTable: ids, otherTable: others})
	}
}

// wanted skips a test of drivers that have to be installed.
func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_CLIENTS") == "" {
		t.Skip("PGFLURRY_TEST_CLIENTS is not set: make test-clients installs the drivers and runs them")
	}
}

// asked skips the test of a driver that PGFLURRY_TEST_CLIENTS does not ask for, and gives the version of any other.
func (m *matrix) asked(t *testing.T, d driver) string {
	t.Helper()
	switch asked := os.Getenv("PGFLURRY_TEST_CLIENTS"); {
	case asked == "1" && !d.first:
		t.Skip("not of the first group, and PGFLURRY_TEST_CLIENTS is 1")
	case asked != "1" && asked != "all":
		t.Fatalf("PGFLURRY_TEST_CLIENTS is %q; expected 1 (the first group) or all", asked)
	}
	version, err := m.maker.version(d)
	if err != nil {
		t.Fatalf("%s does not run: tests/clients/install gets it (%s)\n%v", d.name, d.packages, err)
	}
	return version
}

// matrix is what all drivers share: one database, and every ID that was ever seen.
type matrix struct {
	maker
	direct string // URL
	secure certificates
	roles  []string
	seen   map[string]string
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	m := &matrix{
		maker: maker{out: t.TempDir(), made: make(map[string]error), versions: make(map[string]string)},
		seen:  make(map[string]string),
	}
	m.direct = server.Migrated(t)
	server.Exec(t, m.direct, setupSQL)
	m.roles = []string{"client_password", "client_scram"}
	cluster := server.Cluster(t)
	t.Cleanup(func() { server.Exec(t, cluster.URL("postgres"), "DROP ROLE "+strings.Join(m.roles, ", ")) })
	m.secure = secured(t)
	return m
}

// serve starts a proxy that the drivers reach over TLS too.
func (m *matrix) serve(t *testing.T, direct, node string, more ...string) *program.Proxy {
	t.Helper()
	return program.Serve(t, direct, node, append([]string{
		"--client-tls-cert", m.secure.cert, "--client-tls-key", m.secure.key,
	}, more...)...)
}

// certificates are those that the package's server shows, and its proxies:
// one of a CA of the tests, for localhost and 127.0.0.1.
type certificates struct{ ca, cert, key string }

// secured makes the package's server speak TLS.
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

// visit does deeds at one address and notes their IDs.
func (m *matrix) visit(t *testing.T, d driver, at string, asked []string) []line {
	t.Helper()
	lines := m.run(t, d, asked, m.environment(t, d, at, asked))
	port := server.Parse(t, at).Port()
	for i := range lines {
		for _, id := range lines[i].IDs {
			where := fmt.Sprintf("%s, %s, port %s", d.name, lines[i].Deed, port)
			if before, twice := m.seen[id]; twice {
				t.Errorf("ID %s came in %s and in %s", id, before, where)
			}
			m.seen[id] = where
		}
		lines[i].Result = masked(lines[i].Result, port)
	}
	return lines
}

// environment is what the programs read, and the table where they need it.
func (m *matrix) environment(t *testing.T, d driver, at string, asked []string) []string {
	t.Helper()
	u := server.Parse(t, at)
	place := []string{
		"PGHOST=" + u.Hostname(), "PGPORT=" + u.Port(), "PGDATABASE=" + strings.TrimPrefix(u.Path, "/"),
		"PGSSLMODE=disable", "CLIENT_CA=" + m.secure.ca,
	}
	if slices.Equal(asked, deeds) {
		server.Exec(t, m.direct, itemSQL)
		return append(place, "PGUSER=postgres", "CLIENT_ROLE=client_scram")
	}
	return append(place, "PGUSER="+roleOf(d), "CLIENT_ROLE="+roleOf(d), "PGPASSWORD=right", "CLIENT_BARE=1")
}

var anID = regexp.MustCompile(`\b\d{17,19}\b`)

// masked replaces what must differ, IDs and the server's port, at any depth.
func masked(value any, port string) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(anID.ReplaceAllString(v, "ID"), port, "PORT")
	case []any:
		for i := range v {
			v[i] = masked(v[i], port)
		}
	case map[string]any:
		for key := range v {
			v[key] = masked(v[key], port)
		}
	}
	return value
}

func compare(t *testing.T, direct, proxied []line) {
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
			if workerOf(t, id) != databaseWorker {
				t.Errorf("%s: the direct connection gave ID %s of worker %d", d.Deed, id, workerOf(t, id))
			}
		}
	}
}

// rise fails unless the IDs of each connection rise, for each worker by itself. A session that mixes answered and
// forwarded calls mixes two workers, and its IDs may step back by the clock error between them.
func rise(t *testing.T, parallel line) {
	t.Helper()
	for thousand := range slices.Chunk(parallel.IDs, 1000) {
		last := make(map[int]string)
		for _, id := range thousand {
			if worker := workerOf(t, id); len(id) < len(last[worker]) ||
				len(id) == len(last[worker]) && id <= last[worker] {
				t.Errorf("ID %s came after %s on one connection", id, last[worker])
			}
			last[workerOf(t, id)] = id
		}
	}
}

// idsOf is how many IDs a deed must give; where drivers differ, as many as it gave, but one.
func idsOf(l line) int {
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

// databaseWorker is the worker of the function in a database that was migrated alone.
const databaseWorker = 0

// workerOf reads the worker field of the default layout, 41/0/10/12.
func workerOf(t *testing.T, id string) int {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		t.Fatalf("%q is no ID", id)
	}
	return int(n>>12) & 1023
}

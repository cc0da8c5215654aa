//go:build full

package clients

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

//go:embed pgx_suite.sql
var pgxSuiteSQL string

// outcome is the end of one of pgx's tests.
type outcome struct {
	action string // pass, fail or skip
	output string
}

func TestPgxsOwnTestsPassAndFailThroughTheProxyAsTheyDoDirectly(t *testing.T) {
	t.Parallel()
	if os.Getenv("PGFLURRY_TEST_PGX") != "1" {
		t.Skip("PGFLURRY_TEST_PGX is not 1: make test-pgx runs pgx's own tests")
	}
	module := pgxModule(t)
	cluster := server.Cluster(t)
	direct := server.Migrated(t)
	server.Exec(t, direct, pgxSuiteSQL)
	secure := secured(t)
	// The proxy has the server's own certificate, so that SCRAM with channel binding passes, too.
	through := program.Serve(t, direct, "pgx", "--client-tls-cert", secure.cert, "--client-tls-key", secure.key,
		"--upstream-tls", "require").URL
	without := pgxEnvironment(t, direct, cluster.SocketDir, secure.ca)
	with := pgxEnvironment(t, through, socketProxy(t, direct, through), secure.ca)

	expected := pgxTests(t, module, without, "./...")
	got := pgxTests(t, module, with, "./...")
	// A busy machine may be the reason. Run the tests that differ once more, alone.
	if differing := differences(expected, got); len(differing) > 0 {
		t.Logf("run again: %q", differing)
		again := "-run=^(" + strings.Join(tops(differing), "|") + ")$"
		for name, o := range pgxTests(t, module, without, again, "./...") {
			expected[name] = o
		}
		for name, o := range pgxTests(t, module, with, again, "./...") {
			got[name] = o
		}
	}
	for _, name := range differences(expected, got) {
		t.Errorf("%s: direct %q, through the proxy %q\n%s",
			name, expected[name].action, got[name].action, got[name].output)
	}
	count := make(map[string]int)
	for name, o := range expected {
		count[o.action]++
		if o.action == "fail" {
			t.Logf("fails without the proxy too: %s\n%s", name, o.output)
		}
	}
	if count["pass"] < 1000 {
		t.Errorf("%d of pgx's tests pass without the proxy; expected more than 1000", count["pass"])
	}
	t.Logf("pgx's tests: %v, the same directly and through the proxy", count)
}

// pgxModule copies pgx's module with its tests to a place where go test may run.
func pgxModule(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/jackc/pgx/v5").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "pgx")
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// socketProxy makes a folder with a Unix socket of a proxy. The socket's name has the port of the proxy on TCP.
func socketProxy(t *testing.T, direct, through string) string {
	t.Helper()
	to := server.Parse(t, direct)
	from := server.Parse(t, through)
	dir, err := os.MkdirTemp("", "pgflurry-pgx-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := program.Start(t, "serve", "--listen", filepath.Join(dir, ".s.PGSQL."+from.Port()), "--upstream", to.Host,
		"--lease-database", direct, "--node", "socket")
	p.Line("worker acquired")
	return dir
}

// pgxEnvironment names one server in the variables of pgx's tests. It leaves out those for OAuth, client certificates,
// CockroachDB, CrateDB and PgBouncer. Their tests skip on both sides.
func pgxEnvironment(t *testing.T, at, sockets, ca string) []string {
	t.Helper()
	u := server.Parse(t, at)
	place := fmt.Sprintf("port=%s dbname=%s password=secret ", u.Port(), strings.TrimPrefix(u.Path, "/"))
	tcp := "host=127.0.0.1 sslmode=disable " + place
	secure := "host=localhost sslmode=verify-full sslrootcert=" + ca + " " + place
	return []string{
		"PGX_TEST_DATABASE=" + tcp + "user=pgx_md5", "PGX_TEST_TCP_CONN_STRING=" + tcp + "user=pgx_md5",
		"PGX_TEST_MD5_PASSWORD_CONN_STRING=" + tcp + "user=pgx_md5",
		"PGX_TEST_PLAIN_PASSWORD_CONN_STRING=" + tcp + "user=pgx_pw",
		"PGX_TEST_SCRAM_PASSWORD_CONN_STRING=" + tcp + "user=pgx_scram channel_binding=disable",
		"PGX_TEST_SCRAM_PLUS_CONN_STRING=" + secure + "user=pgx_scram channel_binding=require",
		"PGX_TEST_TLS_CONN_STRING=" + secure + "user=pgx_scram channel_binding=disable",
		"PGX_TEST_UNIX_SOCKET_CONN_STRING=host=" + sockets + " user=postgres " + place,
	}
}

// pgxTests runs pgx's tests and returns how each ended.
func pgxTests(t *testing.T, module string, environment []string, arguments ...string) map[string]outcome {
	t.Helper()
	process := exec.Command("go", append([]string{"test", "-count=1", "-json", "-vet=off"}, arguments...)...)
	process.Dir = module
	process.Env = append(os.Environ(), environment...)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(map[string]outcome)
	said := make(map[string]string)
	for events := json.NewDecoder(out); ; {
		var e struct{ Action, Package, Test, Output string }
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(e.Package, "github.com/jackc/pgx/v5") + " " +
			folder.ReplaceAllString(e.Test, "/FOLDER/")
		said[name] += e.Output
		if e.Test != "" && slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			ended[name] = outcome{e.Action, said[name]}
		}
	}
	_ = process.Wait() // some tests fail on both sides; the list has them
	return ended
}

// folder matches a test's temporary folder, which some names of subtests contain.
var folder = regexp.MustCompile(`/\S*\d+/\d{3}/`)

// differences returns the tests that ended differently.
func differences(expected, got map[string]outcome) (names []string) {
	for name, o := range expected {
		if got[name].action != o.action {
			names = append(names, name)
		}
	}
	for name := range got {
		if _, both := expected[name]; !both {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// tops returns the names of the outermost tests, quoted for -run.
func tops(names []string) (all []string) {
	for _, name := range names {
		_, test, _ := strings.Cut(name, " ")
		top, _, _ := strings.Cut(test, "/")
		if quoted := regexp.QuoteMeta(top); !slices.Contains(all, quoted) {
			all = append(all, quoted)
		}
	}
	return all
}

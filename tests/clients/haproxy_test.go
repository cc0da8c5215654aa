//go:build full

package clients

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// balancer is HAProxy in front of proxies, with the configuration that docs/network.md shows.
type balancer struct {
	url   string
	stats string // Unix socket
}

// balance starts HAProxy with the page's configuration, and replaces the addresses in it. It adds more to the line of
// each server. Of edits, each even text takes the place of the odd one before it.
func balance(t *testing.T, direct string, servers []*program.Proxy, more string, edits ...string) *balancer {
	t.Helper()
	path, err := exec.LookPath("haproxy")
	if err != nil {
		if path = "/usr/sbin/haproxy"; !exists(path) {
			if os.Getenv("PGFLURRY_TEST_CLIENTS") != "" {
				t.Fatal("haproxy is not installed: apt-get install haproxy")
			}
			t.Skip("haproxy is not installed, and PGFLURRY_TEST_CLIENTS is not set")
		}
	}
	dir, err := os.MkdirTemp("", "pgflurry-haproxy-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := fmt.Sprintf("127.0.0.1:%d", server.FreePort(t))
	b := &balancer{stats: filepath.Join(dir, "stats")}
	config := pageBlock(t, "haproxy.cfg")
	config = strings.Replace(config, "bind :5432", "bind "+address, 1)
	for i, p := range servers {
		config = strings.Replace(config, fmt.Sprintf("proxy%d:6432", i+1), p.Address+" "+more, 1)
	}
	config = strings.NewReplacer(edits...).Replace(config)
	if strings.Contains(config, ":6432") || !strings.Contains(config, address) {
		t.Fatalf("the page's configuration is not what the test expects:\n%s", config)
	}
	config = "global\n    stats socket " + b.stats + "\n" + config
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	p := program.StartCommand(t, exec.Command(path, "-db", "-f", file))
	t.Cleanup(func() { p.Signal(syscall.SIGTERM) })
	u := server.Parse(t, direct)
	u.Host = address
	b.url = u.String()
	return b
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// checks waits until the last health check of each server has ended as expected, in order: L7OK, L4CON and the like.
func (b *balancer) checks(t *testing.T, expected ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if slices.Equal(b.statuses(ctx), expected) {
			return
		}
	}
	t.Fatalf("HAProxy's checks do not become %q: %q", expected, b.statuses(t.Context()))
}

// statuses asks HAProxy for each server's last check.
func (b *balancer) statuses(ctx context.Context) (all []string) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", b.stats)
	if err != nil {
		return []string{err.Error()}
	}
	defer conn.Close()
	fmt.Fprintln(conn, "show stat")
	rows, err := csv.NewReader(bufio.NewReader(conn)).ReadAll()
	if err != nil || len(rows) == 0 {
		return []string{fmt.Sprint(err)}
	}
	name, status := -1, -1
	for i, column := range rows[0] {
		switch column {
		case "svname":
			name = i
		case "check_status":
			status = i
		}
	}
	for _, row := range rows[1:] {
		if strings.HasPrefix(row[name], "proxy") {
			all = append(all, row[status])
		}
	}
	return all
}

// started waits for the last line that a proxy logs at its start, which is about segments. It returns the whole log.
func started(p *program.Proxy) string {
	p.Line("next_segment() is answered from memory")
	return p.Output()
}

func TestHAProxyBalancesTwoProxiesChecksThemInSilenceAndSurvivesTheEndOfOne(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	one, two := program.Serve(t, direct, "one"), program.Serve(t, direct, "two")
	server.Exec(t, direct, itemSQL)
	before := started(one) + started(two)
	b := balance(t, direct, []*program.Proxy{one, two}, "")
	b.checks(t, "L7OK", "L7OK")

	workers := make(map[int]int)
	seen := make(map[string]bool)
	for range 10 {
		conn := server.Connect(t, b.url+"&default_query_exec_mode=exec")
		for range 10 {
			id := fmt.Sprint(server.Value[int64](t, conn, draw))
			if seen[id] {
				t.Errorf("ID %s came twice", id)
			}
			seen[id] = true
			workers[deeds.WorkerOf(t, id)]++
		}
		conn.Close(t.Context())
	}
	if len(workers) != 2 || workers[deeds.DatabaseWorker] != 0 {
		t.Errorf("IDs by worker: %v; expected the workers of two proxies", workers)
	}
	if after := one.Output() + two.Output(); after != before {
		t.Errorf("health checks and sessions are in the proxies' logs:\n%s", strings.TrimPrefix(after, before))
	}

	// A cancel request is a connection of its own, so HAProxy may send it to either proxy.
	for range 4 {
		talk(t, b.url, pgx.QueryExecModeExec, (*speaker).cancel)
	}

	// A proxy that gets SIGTERM ends its idle sessions and accepts no new ones.
	one.Signal(syscall.SIGTERM)
	if code := one.End(); code != 0 {
		t.Errorf("the first proxy ended with %d", code)
	}
	for range 10 { // HAProxy may not know yet that one is gone; then it tries the other
		conn := server.Connect(t, b.url+"&default_query_exec_mode=exec")
		id := fmt.Sprint(server.Value[int64](t, conn, draw))
		if seen[id] || deeds.WorkerOf(t, id) == deeds.DatabaseWorker {
			t.Errorf("ID %s came twice, or from the database", id)
		}
		conn.Close(t.Context())
	}
	b.checks(t, "L4CON", "L7OK")
}

func TestAHealthCheckThatOnlyConnectsIsSilentToo(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "probed")
	before := started(p)
	for range 20 {
		conn, err := net.Dial("tcp", p.Address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	conn := server.Connect(t, p.URL+"&default_query_exec_mode=exec") // the proxy accepts it after all those above
	server.Value[int64](t, conn, draw)
	out, err := exec.Command(program.Path(t), "health", "--listen", p.Address).CombinedOutput()
	if err != nil {
		t.Errorf("pgflurry health: %v\n%s", err, out)
	}
	if after := p.Output(); after != before {
		t.Errorf("the log has\n%s", strings.TrimPrefix(after, before))
	}
}

func TestHAProxysOwnCheckOfPostgreSQLPassesAndIsSilent(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "checked")
	before := started(p)
	b := balance(t, direct, []*program.Proxy{p, p}, "",
		"option tcp-check\n", "option pgsql-check user postgres\n",
		"    tcp-check connect\n", "",
		"    tcp-check send-binary 0000000804d2162f\n", "",
		"    tcp-check expect rbinary ^(53|4E)\n", "")
	b.checks(t, "L7OK", "L7OK")
	if after := p.Output(); after != before {
		t.Errorf("the log has\n%s", strings.TrimPrefix(after, before))
	}
}

func TestHAProxysHeaderOfTheClientsAddressIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "header")
	b := balance(t, direct, []*program.Proxy{p, p}, "send-proxy")
	b.checks(t, "L7OK", "L7OK")
	config, err := pgx.ParseConfig(b.url)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		conn.Close(t.Context())
		t.Error("a session began in spite of the PROXY header")
	}
	p.Line("connection refused")
}

// pageBlock returns the code block of docs/network.md whose first line is "# name".
func pageBlock(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/network.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n# " + regexp.QuoteMeta(name) + "\n(.*?)\n```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("docs/network.md has no block that begins with # %s", name)
	}
	return string(block[1]) + "\n"
}

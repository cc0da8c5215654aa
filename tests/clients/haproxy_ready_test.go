//go:build full

package clients

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestHAProxyThatAsksReadyzGivesADrainingProxyNoNewSession(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	edits := []string{checkOfThePage(t), pageBlock(t, "readyz.cfg")}
	var proxies []*program.Proxy
	for _, name := range []string{"one", "two"} {
		p := program.Serve(t, direct, name, "--admin-listen", "127.0.0.1:0")
		proxies = append(proxies, p)
		edits = append(edits, checkedAtItsAdminListener(t, p)...)
	}
	b := balance(t, direct, proxies, "", edits...)
	b.checks(t, "L7OK", "L7OK")

	busy := server.Connect(t, proxies[0].URL)
	server.Do(t, busy, "BEGIN")
	proxies[0].Signal(syscall.SIGTERM)
	b.checks(t, "L7STS", "L7OK") // it still answers the check, and says 503
	drawsInTenSessions(t, b.url)
	server.Do(t, busy, "COMMIT") // the drain has not touched the open transaction
	if code := proxies[0].End(); code != 0 {
		t.Errorf("the drained proxy ended with %d", code)
	}
	b.checks(t, "L4CON", "L7OK")
}

func TestHAProxyChoosesNoProxyThatIsCutOffFromPostgreSQL(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	edits := []string{checkOfThePage(t), pageBlock(t, "readyz.cfg")}
	link, _ := network.To(t, direct)
	var proxies []*program.Proxy
	for _, upstream := range []string{link.Address(), server.Parse(t, direct).Host} {
		p := program.Serve(t, direct, upstream, "--admin-listen", "127.0.0.1:0", "--upstream", upstream)
		proxies = append(proxies, p)
		edits = append(edits, checkedAtItsAdminListener(t, p)...)
	}
	b := balance(t, direct, proxies, "", edits...)
	b.checks(t, "L7OK", "L7OK")

	link.Silence()
	b.checks(t, "L7STS", "L7OK")
	drawsInTenSessions(t, b.url)
	link.Heal()
	b.checks(t, "L7OK", "L7OK")
}

// A balancer with two addresses: one for the databases, and one for the ID database. PostgreSQL's own check, which
// HAProxy has, would take both proxies out of either.
func TestHAProxyKeepsTheIDDatabaseThroughAnOutageThatTakesTheDatabasesAway(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	run(t, "", "migrate", "up", "--database", direct)
	run(t, "right\n", "clients", "add", "shop", "--database", direct)
	edits := map[string][]string{}
	checks := map[string]string{
		"/readyz":             pageBlock(t, "readyz.cfg"),
		"/readyz/id-database": strings.Replace(pageBlock(t, "readyz.cfg"), "/readyz", "/readyz/id-database", 1),
		"pgsql-check": "    option pgsql-check user postgres\n" +
			"    default-server check inter 500ms fall 1 rise 1\n",
	}
	for name, check := range checks {
		edits[name] = []string{checkOfThePage(t), check}
	}
	var proxies []*program.Proxy
	for _, name := range []string{"one", "two"} {
		p := program.Serve(t, direct, name, "--admin-listen", "127.0.0.1:0", "--id-database", "pgflurry")
		proxies = append(proxies, p)
		for _, name := range []string{"/readyz", "/readyz/id-database"} {
			edits[name] = append(edits[name], checkedAtItsAdminListener(t, p)...)
		}
	}
	at := make(map[string]*balancer)
	for name := range edits {
		at[name] = balance(t, direct, proxies, "", edits[name]...)
		at[name].checks(t, "L7OK", "L7OK")
	}
	for _, p := range proxies {
		lasts(t, server.As(t, server.In(t, p.URL, "pgflurry"), "shop", "right"), 40*time.Second)
	}
	server.Stop(t, cluster)
	at["/readyz"].checks(t, "L7STS", "L7STS")
	at["pgsql-check"].checks(t, "L7RSP", "L7RSP")
	at["/readyz/id-database"].checks(t, "L7OK", "L7OK")
	ids := server.As(t, server.In(t, at["/readyz/id-database"].url, "pgflurry"), "shop", "right")
	drawsInTenSessions(t, ids)
	at["/readyz/id-database"].checks(t, "L7OK", "L7OK")
}

// checkOfThePage is the check in the page's configuration, from its comment on.
func checkOfThePage(t *testing.T) string {
	t.Helper()
	page := pageBlock(t, "haproxy.cfg")
	return page[strings.Index(page, "    # the check is"):strings.Index(page, "    server proxy1")]
}

// checkedAtItsAdminListener edits the line of a proxy: HAProxy asks the admin listener.
func checkedAtItsAdminListener(t *testing.T, p *program.Proxy) []string {
	t.Helper()
	_, port, err := net.SplitHostPort(program.Field(p.Line("listening for operators"), "address"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{p.Address + " \n", p.Address + " port " + port + "\n"}
}

func drawsInTenSessions(t *testing.T, url string) {
	t.Helper()
	for range 10 {
		conn := server.Connect(t, url+"&default_query_exec_mode=exec")
		server.Value[int64](t, conn, draw)
		conn.Close(context.Background())
	}
}

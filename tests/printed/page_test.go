//go:build full

package printed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

const pagePath = "../../docs/test-databases.md"

// page returns the text of docs/test-databases.md.
func page(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commands returns the page's blocks of commands.
func commands(t testing.TB) []string { return deeds.Blocks(t, pagePath, "sh") }

// template returns the block that makes the template.
func template(t testing.TB) string { return commands(t)[0] }

// withoutProxy returns all blocks of commands except the last, which starts a proxy.
func withoutProxy(t testing.TB) []string {
	all := commands(t)
	return all[:len(all)-1]
}

// proxyBlock returns the last block.
func proxyBlock(t testing.TB) string {
	all := commands(t)
	return all[len(all)-1]
}

// A reader of the page, with a server of his own.
type reader struct {
	*testing.T
	cluster     *postgres.Cluster
	folder      string
	environment []string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{T: t, cluster: server.Private(t, nil), folder: t.TempDir()}
	bin := t.TempDir()
	if err := os.Symlink(program.Path(t), filepath.Join(bin, "pgflurry")); err != nil {
		t.Fatal(err)
	}
	r.environment = slices.Concat(os.Environ(), server.Environment(t, r.url("postgres")), []string{
		"PATH=" + bin + ":" + filepath.Dir(server.Tool(t, "createdb")) + ":" + os.Getenv("PATH"),
	})
	return r
}

func (r *reader) url(database string) string { return r.cluster.URL(database) }

// command is a script, ready to run.
func (r *reader) command(script string) *exec.Cmd {
	command := exec.CommandContext(server.Within(r), "bash", "-euc", script)
	command.Dir, command.Env = r.folder, r.environment
	return command
}

// run runs a script of the page and returns what it prints.
func (r *reader) run(script string) string {
	r.Helper()
	out, err := r.command(script).CombinedOutput()
	if err != nil {
		r.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// draws takes IDs from the databases in turn, a thousand at a time, and returns the IDs of each.
func (r *reader) draws(databases ...string) map[string][]int64 {
	r.Helper()
	ids := map[string][]int64{}
	for range 3 {
		for _, name := range databases {
			conn := server.Connect(r, r.url(name))
			ids[name] = append(ids[name], server.Values[int64](r, conn, "SELECT next_snowflakes(1000)")...)
			conn.Close(server.Within(r))
		}
	}
	for name, drawn := range ids {
		if unique(drawn) != 3000 {
			r.Errorf("database %s gave only %d different IDs of 3000", name, unique(drawn))
		}
	}
	return ids
}

func unique(ids []int64) int { return len(slices.Compact(slices.Sorted(slices.Values(ids)))) }

func TestThePagesCommandsGiveDatabasesThatDrawAtOnce(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for _, script := range withoutProxy(t) {
		r.run(script)
	}
	r.draws("shop_test_1", "shop_test_2") // no comparison across databases: separate ID spaces may share IDs
	both := r.draws("shop_home", "shop_billing")
	if n := unique(slices.Concat(both["shop_home"], both["shop_billing"])); n != 6000 {
		t.Errorf("the two databases of one ID space gave %d different IDs of 6000", n)
	}
	r.draws("shop", "shop_copy", "shop_schemas", "shop_container", "shop_ci")
	r.run("createdb other; psql -qd other -f pgflurry.sql -f structure.sql; " +
		"pg_dump --schema-only --no-owner --no-privileges other | awk -f ours.awk | cmp - structure.sql; " +
		"grep -q 'CREATE TABLE public.item' structure.sql; if grep pgflurry structure.sql; then false; fi")
	const worker = "SELECT snowflake_worker(next_snowflake())"
	first, second := server.Connect(t, r.url("shop_test_1")), server.Connect(t, r.url("shop_test_2"))
	if a, b := server.Value[int](t, first, worker), server.Value[int](t, second, worker); a != b {
		t.Errorf("the clones have workers %d and %d; the page says that they have one", a, b)
	}
}

func TestDbmateLoadsASchemaFileWithoutWhatThePrintedScriptMakes(t *testing.T) {
	t.Parallel()
	if !deeds.All() {
		t.Skip("PGFLURRY_TEST_CLIENTS is not all: make test-clients installs dbmate and runs it")
	}
	r := newReader(t)
	dbmate, err := filepath.Abs("tools/node/node_modules/.bin/dbmate")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range withoutProxy(t) {
		r.run(script)
	}
	at := func(database string) string { return "--url '" + r.url(database) + "' " }
	r.run("createdb dumped; createdb loaded; mkdir -p db/migrations; psql -qd dumped -f pgflurry.sql; " +
		"printf -- '-- migrate:up\nCREATE TABLE tea (id bigint DEFAULT next_snowflake());\n-- migrate:down\n' " +
		"> db/migrations/1_tea.sql; " + dbmate + " " + at("dumped") + "up; " +
		"awk -f ours.awk db/schema.sql > kept; if grep pgflurry kept; then false; fi; mv kept db/schema.sql; " +
		"psql -qd loaded -f pgflurry.sql; " + dbmate + " " + at("loaded") + "load; " +
		"psql -qd loaded -c 'INSERT INTO tea DEFAULT VALUES'")
}

func TestThePagesProxyServesACloneAndKeepsItsDatabaseFromBeingATemplate(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.run(template(t))
	lines := strings.Split(strings.TrimSpace(proxyBlock(t)), "\n")
	r.run(lines[0])
	command := strings.Replace(lines[1], "127.0.0.1:6432", "127.0.0.1:0", 1)
	if len(lines) != 2 || command == lines[1] {
		t.Fatalf("the block of the proxy is %q", lines)
	}
	started := r.command("exec " + command)
	started.Stdout, started.Stderr = nil, nil
	proxy := program.StartCommand(t, started).Proxy(r.url("shop_proxied"))
	proxy.Leased()
	server.Exec(t, proxy.URL, "SELECT next_snowflake()")

	out, err := r.command("createdb --template shop_proxied shop_second").CombinedOutput()
	const said = `source database "%s" is being accessed by other users`
	if err == nil || !strings.Contains(string(out), fmt.Sprintf(said, "shop_proxied")) {
		t.Errorf("the copy of a database with a proxy: %v, %s", err, out)
	}
	if !strings.Contains(page(t), fmt.Sprintf(said, "shop_template")) {
		t.Errorf("the page does not say "+said, "shop_template")
	}
	proxy.Signal(syscall.SIGTERM)
	proxy.End()
	r.run("createdb --template shop_proxied shop_second")

	refused := r.command(`pgflurry serve --upstream "$PGHOST:$PGPORT" --lease-database postgres:///shop_proxied ` +
		"--databases shop_proxied,shop_second --listen 127.0.0.1:0")
	out, err = refused.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "their IDs repeat each other's") {
		t.Errorf("one proxy for two clones: %v, %s", err, out)
	}
}

func TestThePagesTableNamesEachToolInTheFormThatItTakes(t *testing.T) {
	t.Parallel()
	var named, takes []string
	rows := regexp.MustCompile("(?m)^\\| (`[a-z-`, ]+`) \\| (plain|escaped) \\|").FindAllStringSubmatch(page(t), -1)
	for _, row := range rows {
		for name := range strings.SplitSeq(row[1], ", ") {
			named = append(named, strings.Trim(name, "`")+" "+row[2])
		}
	}
	for _, tool := range tools {
		name, unsplit := strings.CutSuffix(tool.name, "-unsplit")
		form := "plain"
		if tool.splits && !unsplit {
			form = "escaped"
		}
		takes = append(takes, name+" "+form)
	}
	slices.Sort(named)
	slices.Sort(takes)
	if !slices.Equal(named, takes) {
		t.Errorf("the page names %q, expected %q", named, takes)
	}
}

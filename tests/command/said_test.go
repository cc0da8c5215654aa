package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/internal/namespace"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestADeadUpstreamIsToldByItsAddressToTheOperatorAndNotToClients(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	upstream := strings.Replace(dead(t), "127.0.0.1", "localhost", 1)
	p := program.ServeUnleased(t, direct, "one", "--upstream", upstream)
	p.Line("database could not be looked at", "cannot connect to "+upstream)
	out, err := exec.Command(server.Tool(t, "psql"), p.URL, "-c", "SELECT 1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "behind the proxy") || strings.Contains(string(out), upstream) {
		t.Errorf("a client is told %v\n%s", err, out)
	}
	p.Line("session refused", upstream+" (", "connection refused") // the line has the address that the name resolved to
}

func TestTheFirstLinesOfServeNeedNoExplanation(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, server.Migrated(t), "one")
	p.Line("limits on clients", "max_connections=none")
	p.Line("worker acquired", "reserved_for=", "window=1m0s")
}

func TestConnectionStringsOfOthersGetAHintOfTheirOwn(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	run(t, "migrate", "status", "--database", url+"&schema=public").
		is(t, 2, "parameter schema, which is for Prisma", "hint: Leave it out: pgflurry keeps its tables in schema")
	run(t, "workers", "list", "--database", url+"&colour=red").
		is(t, 4, "unrecognized configuration parameter", "hint: Leave out of the connection string")
	run(t, "migrate", "status", "--database", "postgres://owner:s3/cret@localhost/app").
		is(t, 2, "has a /, ? or # that is not written as %XX", "/ is %2F")
	folder := "/tmp/" + strings.Repeat("long/", 30)
	long := "the path of the socket has "
	run(t, "serve", "--listen", folder+"socket").is(t, 2, "--upstream is missing")
	run(t, "serve", "--listen", folder+"socket", "--upstream", "127.0.0.1:1", "--lease-database", url).is(t, 2, long)
	run(t, "health", "--listen", folder+"socket").is(t, 2, "--listen "+folder, long)
	socket := "host=" + folder + " dbname=app user=me"
	run(t, "workers", "list", "--database", socket).is(t, 4, long, "hint: Choose a shorter")
}

func TestAURLForPoolersMigratesAndIsAsked(t *testing.T) {
	t.Parallel()
	url := server.Database(t) + "&statement_cache_capacity=0"
	for _, line := range [][]string{
		{"migrate", "up"},
		{"migrate", "status"},
		{"workers", "list"},
		{"workers", "history"},
		{"decode", "1"},
		{"migrate", "down"},
	} {
		run(t, append(line, "--database", url)...).is(t, 0)
	}
}

func TestAPoolerInTransactionModeIsNamedWhereMigrationsFail(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	pooled := server.Pooler(t, direct, 1)
	for range 5 { // the server session keeps the first run's prepared statements; the next run gets the same session
		run(t, "workers", "list", "--database", pooled).is(t, 0)
		run(t, "decode", "1", "--database", pooled).is(t, 0)
		if e := run(t, "migrate", "status", "--database", pooled); e.code != 0 {
			e.is(t, 1, "prepared statement", "hint: A pooler in transaction mode seems to stand between")
			return
		}
	}
	t.Error("no prepared statement of another session was ever in the way")
}

func TestTheRoleOfGrantLeaseMayRunEveryCommandThatOnlyReads(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	as := server.Role(t, url, "only_reads")
	server.Do(t, conn, "CALL pgflurry.grant_lease('only_reads')")
	for _, line := range [][]string{
		{"workers", "list", "--all"}, {"workers", "history"}, {"decode", "1"},
	} {
		run(t, append(line, "--database", as)...).is(t, 0)
	}
	status := run(t, "migrate", "status", "--database", as) // only the owner may compare functions
	status.is(t, 1, "the functions could not be compared", "as the owner of schema pgflurry")
	if !strings.Contains(status.out, "last ID") {
		t.Errorf("status prints\n%s", status.out)
	}
	p := program.Serve(t, url, "surveyed", "--lease-database", as, "--admin-listen", "127.0.0.1:0")
	admin := "http://" + program.Field(p.Line("listening for operators"), "address")
	// The proxy counts the held workers only when somebody reads the worker table.
	giveUp, look := time.After(time.Minute), time.NewTicker(50*time.Millisecond)
	defer look.Stop()
	for !strings.Contains(get(t, admin+"/metrics"),
		"pgflurry_workers{state=\"held\"} 1") {
		select {
		case <-look.C:
		case <-giveUp:
			t.Fatalf("the worker table is not looked at:\n%s", p.Output())
		}
	}
	if page := get(t, admin+"/"); !strings.Contains(page, "surveyed") || strings.Contains(page, "permission denied") {
		t.Errorf("the status page is\n%s", page)
	}
}

// get returns the body at a URL.
func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", url, answer.Status, err, body)
	}
	return string(body)
}

func TestREADMEAndHelpNameTheSameGrant(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	grant := regexp.MustCompile(`(CALL|GRANT) [^;\n]*'(proxy_)?role'\);`)
	spell := func(text string) []string {
		found := grant.FindAllString(text, -1)
		for i := range found {
			found[i] = strings.Replace(found[i], "proxy_role", "role", 1)
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	help := spell(run(t, "migrate", "up", "--help").out)
	if got := spell(string(readme)); len(help) != 1 || !slices.Equal(got, help[:1]) {
		t.Errorf("README grants %q, help %q", got, help)
	}
}

func TestARefusedJoinLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	home := server.Migrated(t)
	run(t, "workers", "reseed", "--yes", "--database", home).is(t, 0)
	url := server.Database(t)
	run(t, "namespace", "join", "--database", url, "--home", home).is(t, 1, "may have forgotten a database that joined")
	conn := server.Connect(t, url)
	if server.Value[bool](t, conn, "SELECT to_regnamespace('pgflurry') IS NOT NULL "+
		"OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = 'public'::regnamespace)") {
		t.Error("a refused join has left pgflurry in the database")
	}
	opened := run(t, "namespace", "set", "--database", home, "--joins-complete")
	if !strings.Contains(opened.out, "other databases can join again") {
		t.Errorf("set prints\n%s", opened.out)
	}
	joined := run(t, "namespace", "join", "--database", url, "--home", home)
	if joined.code != 0 || !strings.Contains(joined.out, "its function has worker 1 there") ||
		!strings.Contains(joined.out, "a machine's name stands for its localhost") {
		t.Errorf("join prints\n%s%s", joined.out, joined.errs)
	}
}

func TestUpMovedSaysWhatItHasDone(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	copied := server.TemplateCopy(t, original, server.Name(t, original)+"_moved")
	server.Exec(t, server.In(t, original, "postgres"), "DROP DATABASE "+server.Name(t, original)+" WITH (FORCE)")
	moved := run(t, "namespace", "move", "--database", copied)
	if moved.code != 0 || !strings.Contains(moved.out, "is the original of its namespace now; no worker is granted") {
		t.Errorf("exit code %d; it prints\n%s%s", moved.code, moved.out, moved.errs)
	}
}

func TestASignalEndsAMigrationWithItsNameAlone(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "SELECT pg_advisory_lock(x'7067666c75727279'::bigint)")
	p := program.Start(t, "migrate", "up", "--database", url)
	server.Blocked(t, conn, 1)
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 || p.Output() != "pgflurry: stopped by signal: interrupt\n"+
		"hint: Each step is done whole or not at all. Run it again: it goes on where it stopped." {
		t.Errorf("exit code %d; it prints\n%s", code, p.Output())
	}
}

func TestThePrintedScriptRunsWithoutANotice(t *testing.T) {
	t.Parallel()
	script := run(t, "migrate", "print")
	ctx, cancel := context.WithTimeout(t.Context(), server.Patience)
	defer cancel()
	psql := exec.CommandContext(ctx, server.Tool(t, "psql"), server.Database(t), "-X1q", "-v", "ON_ERROR_STOP=1",
		"-o", filepath.Join(t.TempDir(), "rows"))
	psql.Stdin = strings.NewReader(script.out)
	if out, err := psql.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v; psql prints\n%s", err, out)
	}
}

func TestASchemaWhoseFunctionsAreStillToComeIsNewerByItsMigrations(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, fmt.Sprintf("INSERT INTO pgflurry.migration (number) VALUES (%d)", namespace.Revision+1))
	for _, line := range [][]string{{"up"}, {"status"}, {"down"}} {
		run(t, append([]string{"migrate"}, append(line, "--database", url)...)...).
			is(t, 3, fmt.Sprintf("has revision %d, and this program knows revision %d", namespace.Revision+1,
				namespace.Revision))
	}
}

func TestTheDemoSaysThatItMigratesTheDatabaseItIsGivenForGood(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	p := program.Start(t, "demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--postgres",
		url+"&statement_cache_capacity=0")
	p.Line("schema pgflurry and its functions are made there, and stay")
	p.Line("Ctrl-C ends the demo")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

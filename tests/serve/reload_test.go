package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// configured is a proxy with a configuration file, which the test rewrites.
type configured struct {
	*program.Proxy
	t    *testing.T
	path string
	base string // the lines that always stay in the file
}

// serveConfigured starts a proxy in front of the database of a URL. Its flags are in the file, except those that a test
// always needs.
func serveConfigured(t *testing.T, direct, node string, lines ...string) *configured {
	t.Helper()
	c := &configured{t: t, path: filepath.Join(t.TempDir(), "pgflurry.toml")}
	c.base = fmt.Sprintf("upstream = %q\nlease-database = %q\nnode = %q\n", server.Parse(t, direct).Host, direct, node)
	c.write(lines...)
	c.Proxy = program.Start(t, "serve", "--listen", "127.0.0.1:0", "--config", c.path).Proxy(direct)
	c.Leased()
	return c
}

func (c *configured) write(lines ...string) {
	c.t.Helper()
	if err := os.WriteFile(c.path, []byte(c.base+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// reload rewrites the file, sends SIGHUP, and returns the log's line about the result.
func (c *configured) reload(lines ...string) string {
	c.t.Helper()
	c.write(lines...)
	from := c.Printed()
	c.Signal(syscall.SIGHUP)
	return c.LineFrom(from, "msg=\"configuration ")
}

// in returns the URL of another database, through the proxy.
func (c *configured) in(direct string) string { return server.In(c.t, c.URL, server.Name(c.t, direct)) }

// drawers are clients that draw without a pause, each in its own session, until the test ends them. None may
// fail.
type drawers struct {
	t     *testing.T
	stop  context.CancelFunc
	done  sync.WaitGroup
	mu    sync.Mutex
	seen  *seen
	wrong []error
}

func drawing(t *testing.T, url string, clients int) *drawers {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &drawers{t: t, stop: stop, seen: newSeen(t)}
	for range clients {
		conn := server.Connect(t, url)
		c.done.Go(func() {
			for ctx.Err() == nil {
				id, err := drawOne(conn)
				c.mu.Lock()
				if err != nil {
					c.wrong = append(c.wrong, err)
					stop()
				} else {
					c.seen.add("a client", id)
				}
				c.mu.Unlock()
			}
		})
	}
	return c
}

// end ends the clients, and fails if one had an error.
func (c *drawers) end() {
	c.t.Helper()
	c.stop()
	c.done.Wait()
	if len(c.wrong) > 0 {
		c.t.Errorf("a session had an error: %v", errors.Join(c.wrong...))
	}
	if workers := c.seen.workers(); len(c.seen.ids) == 0 || workers[databaseWorker] > 0 {
		c.t.Errorf("%d IDs, of which %d are the function's", len(c.seen.ids), workers[databaseWorker])
	}
}

func TestSIGHUPAddsAndRemovesDatabasesAndNoSessionNotices(t *testing.T) {
	t.Parallel()
	app := server.Migrated(t)
	reports := server.MigratedWith(t, migrations.Settings{JoinURL: app})
	one, both := fmt.Sprintf("databases = [%q]", server.Name(t, app)),
		fmt.Sprintf("databases = [%q, %q]", server.Name(t, app), server.Name(t, reports))
	c := serveConfigured(t, app, "relisting", one)
	load := drawing(t, c.URL, 8)
	relayed := func(conn *pgx.Conn) bool { return workerOf(mustDraw(t, conn)) < 2 } // by one of the two functions
	early := server.Connect(t, c.in(reports))
	if !relayed(early) {
		t.Fatal("a database that is not listed is answered from memory")
	}
	for range 2 { // a removed database can come back
		from := c.Printed()
		if line := c.reload(both); !strings.Contains(line, "changed=databases") {
			t.Errorf("the log says %s", line)
		}
		c.LineFrom(from, "are answered from memory", "database="+server.Name(t, reports))
		late := server.Connect(t, c.in(reports))
		if relayed(late) {
			t.Error("a database that was added is not answered from memory")
		}
		if line := c.reload(one); !strings.Contains(line, "changed=databases") {
			t.Errorf("the log says %s", line)
		}
		if !relayed(late) || !relayed(server.Connect(t, c.in(reports))) {
			t.Error("a database that was removed is answered from memory")
		}
		direct := server.Connect(t, reports)
		server.Eventually(t, direct, "NOT EXISTS (SELECT "+keptSessions+")") // the proxy no longer asks there
	}
	relayed(early) // the early session is still open
	load.end()
	if c.Signal(syscall.SIGTERM); c.End() != 0 {
		t.Error("it has not ended well")
	}
	if line := c.Line("msg=ended"); program.Field(line, "sessions") != "13" {
		t.Errorf("8 + 5 sessions were opened, but %s", line)
	}
}

func TestADatabaseOfAnotherNamespaceThatIsAddedIsNeverAnsweredAndEndsNothing(t *testing.T) {
	t.Parallel()
	app, other := server.Migrated(t), server.Migrated(t)
	c := serveConfigured(t, app, "mistaken")
	load := drawing(t, c.URL, 2)
	from := c.Printed()
	c.reload(fmt.Sprintf("databases = [%q, %q]", server.Name(t, app), server.Name(t, other)))
	c.LineFrom(from, "level=ERROR", "database="+server.Name(t, other), "carries namespace")
	if id := mustDraw(t, server.Connect(t, c.in(other))); workerOf(id) != databaseWorker {
		t.Errorf("ID %d of another namespace's database is from memory", id)
	}
	load.end()
}

func TestSIGHUPRaisesAndLowersLimitsAndNoSessionNotices(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	c := serveConfigured(t, direct, "limiting", "max-connections = 4")
	load := drawing(t, c.URL, 4)
	admitted := func(want bool) {
		t.Helper()
		conn, err := pgx.Connect(server.Within(t), c.URL)
		refusal := new(pgconn.PgError)
		switch {
		case err == nil:
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
		case !errors.As(err, &refusal) || refusal.Code != "53300":
			t.Fatal(err)
		}
		if (err == nil) != want {
			t.Errorf("one more session: %v; expected success %v", err, want)
		}
	}
	admitted(false)
	if line := c.reload("max-connections = 5"); !strings.Contains(line, "changed=max-connections") {
		t.Errorf("the log says %s", line)
	}
	admitted(true)
	admitted(false)
	if line := c.reload("max-connections = 1", `login-timeout = "5s"`, `log-level = "debug"`); !strings.Contains(line,
		"changed=log-level,login-timeout,max-connections") {
		t.Errorf("the log says %s", line)
	}
	admitted(false)
	from := c.Printed()
	if line := c.reload(`log-level = "debug"`); !strings.Contains(line, "changed=login-timeout,max-connections") {
		t.Errorf("the log says %s", line)
	}
	admitted(true)
	c.LineFrom(from, "level=DEBUG", "session begins")
	load.end()
}

func TestAFileThatIsWrongChangesNothingAndIsToldInOneLine(t *testing.T) {
	t.Parallel()
	app := server.Migrated(t)
	c := serveConfigured(t, app, "steadfast", "max-connections = 2")
	load := drawing(t, c.URL, 2)
	name := server.Name(t, app)
	for wrong, says := range map[string]string{
		"max-connections = -1\ndatabases = []":                   "--max-connections is -1",
		"max-connections = 100\nwindow =":                        "is not TOML",
		"max-connections = 100\nwindw = \"60s\"":                 "is the name of no flag",
		"max-connections = 100\nclient-tls-ca = \"/none\"":       "needs --client-tls require",
		"max-connections = 100\nlease-database-file = \"/none\"": "are both set",
		"databases = [\"other\"]\nlogin-timeout = \"1ns\"":       "--login-timeout is 1ns",
	} {
		line := c.reload(wrong)
		if !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "everything stays as it was") ||
			!strings.Contains(line, says) {
			t.Errorf("with %q the log says %s", wrong, line)
		}
		if _, err := pgx.Connect(server.Within(t), c.URL); err == nil {
			t.Errorf("%q has raised the limit", wrong)
		}
	}
	line := c.reload("max-connections = 2", `window = "50s"`, `drain-timeout = "5s"`, `databases = ["`+name+`"]`)
	for _, says := range []string{"level=WARN", "changed=databases", "needs_restart=drain-timeout,window"} {
		if !strings.Contains(line, says) {
			t.Errorf("%s\nexpected %s", line, says)
		}
	}
	load.end()
	if strings.Contains(c.Output(), "postgres://") {
		t.Error("a connection string is in the log")
	}
}

// withPassword makes a lease role whose password is "old".
func withPassword(t *testing.T, direct, role string) {
	t.Helper()
	server.Exec(t, direct, "CREATE ROLE "+role+" LOGIN PASSWORD 'old' IN ROLE login_scram; "+
		"CALL pgflurry.grant_lease('"+role+"')")
	t.Cleanup(func() { server.Exec(t, direct, "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role) })
}

// connectsAnew ends all connections of a role, and waits for the next one.
func connectsAnew(t *testing.T, direct, role string) {
	t.Helper()
	own := "FROM pg_stat_activity WHERE usename = '" + role + "'"
	super := server.Connect(t, direct)
	before := server.Values[int](t, super, "SELECT pid "+own)
	server.Do(t, super, "SELECT pg_terminate_backend(pid, 10000) "+own)
	server.Eventually(t, super, "EXISTS (SELECT "+own+" AND pid <> ALL ($1))", before)
}

// givesBack ends a proxy, which has to give its worker back over a connection with the new password.
func givesBack(t *testing.T, p *program.Proxy, direct string) {
	t.Helper()
	p.Signal(syscall.SIGTERM)
	p.End()
	const givenBack = "SELECT count(*) FROM pgflurry.worker WHERE released_at IS NOT NULL"
	if released := server.Value[int](t, server.Connect(t, direct), givenBack); released != 1 {
		t.Errorf("%d workers were given back:\n%s", released, p.Output())
	}
}

func TestANewPasswordOfTheLeaseRoleIsUsedByTheNextConnections(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	const role = "rotated"
	withPassword(t, direct, role)
	dir := t.TempDir()
	secret, config := filepath.Join(dir, "lease-database"), filepath.Join(dir, "pgflurry.toml")
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secret, server.As(t, direct, role, "old")+"\n")
	write(config, fmt.Sprintf("upstream = %q\nlease-database-file = %q\n", server.Parse(t, direct).Host, secret))
	p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--config", config).Proxy(direct)
	p.Leased()
	load := drawing(t, p.URL, 2)

	server.Exec(t, direct, "ALTER ROLE "+role+" PASSWORD 'new'")
	write(secret, server.As(t, direct, role, "new")+"\n")
	from := p.Printed()
	p.Signal(syscall.SIGHUP)
	if line := p.LineFrom(from, "msg=\"configuration "); !strings.Contains(line, "changed=lease-database") {
		t.Errorf("the log says %s", line)
	}
	connectsAnew(t, direct, role)
	load.end()
	givesBack(t, p, direct)
	if out := p.Output(); strings.Contains(out, "28P01") || strings.Contains(out, ":new@") {
		t.Errorf("the old password was tried, or the new one is in the log:\n%s", out)
	}
}

func TestARefusedPasswordIsReadFromItsFileAgainWithoutASignal(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	const role = "rotated_alone"
	withPassword(t, direct, role)
	secret := filepath.Join(t.TempDir(), "lease-database")
	write := func(password string) {
		if err := os.WriteFile(secret, []byte(server.As(t, direct, role, password)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	cmd := exec.Command(program.Path(t), "serve", "--listen", "127.0.0.1:0",
		"--upstream", server.Parse(t, direct).Host)
	cmd.Env = append(os.Environ(), "PGFLURRY_LEASE_DATABASE_FILE="+secret)
	p := program.StartCommand(t, cmd).Proxy(direct)
	p.Leased()
	load := drawing(t, p.URL, 2)

	server.Exec(t, direct, "ALTER ROLE "+role+" PASSWORD 'new'")
	write("new")
	connectsAnew(t, direct, role)
	load.end()
	givesBack(t, p, direct)
	if out := p.Output(); !strings.Contains(out, "read again: it has changed") || strings.Contains(out, ":new@") {
		t.Errorf("the log does not say that the password changed, or has it:\n%s", out)
	}
}

func TestAPasswordThatEndsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	const role = "short_lived"
	withPassword(t, direct, role)
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n1h\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", server.Parse(t, direct).Host,
		"--lease-database", server.As(t, direct, role, ""), "--lease-password-command", "cat "+file).Proxy(direct)
	p.Leased()
	load := drawing(t, p.URL, 2)

	// The kept password is refused once, although its hour is not over. Then the program gives another one.
	server.Exec(t, direct, "ALTER ROLE "+role+" PASSWORD 'new'")
	write("new")
	connectsAnew(t, direct, role)
	load.end()
	givesBack(t, p, direct)
}

func TestTheConfigurationIsCheckedWithoutAnythingBeingOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pgflurry.toml")
	content := "upstream = \"127.0.0.1:1\"\nlease-database = \"postgres://u:geheim@127.0.0.1:1/d\"\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program.Serve(t, server.Migrated(t), "beside") // has the address that the test wants
	good := program.Start(t, "serve", "--listen", p.Address, "--config", path, "--check-config")
	if code := good.End(); code != 0 || !strings.Contains(good.Output(), "configuration is good") {
		t.Errorf("it ended with %d:\n%s", code, good.Output())
	}
	bad := program.Start(t, "serve", "--listen", p.Address, "--config", path, "--check-config", "--window", "1ms",
		"--max-logins", "-1")
	if code := bad.End(); code != 2 || !strings.Contains(bad.Output(), "2 things are wrong") ||
		strings.Contains(bad.Output(), "geheim") {
		t.Errorf("it ended with %d:\n%s", code, bad.Output())
	}
}

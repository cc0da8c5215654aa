package idsessions

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// trusting starts a proxy that lets everybody in, for tests that are not about accounts.
func trusting(t *testing.T, direct string, more ...string) *door {
	t.Helper()
	return open(t, direct, append([]string{"--id-auth", "trust"}, more...)...)
}

// anybody opens a session at a proxy that trusts everybody.
func (d *door) anybody(t *testing.T) *pgx.Conn {
	t.Helper()
	return server.Connect(t, d.url("", "sslmode=disable"))
}

func TestARealDatabaseOfTheNameEndsAStartAndLaterIsAnErrorInTheLog(t *testing.T) {
	t.Parallel()
	direct, other := server.Migrated(t), server.Database(t)
	name := server.Name(t, other)
	args := program.ServeArgs(t, direct, "hiding", "--id-database", name)
	p := program.Start(t, args...)
	p.Line("--id-database is "+name, "the server has a database of that name")
	if code := p.End(); code != 3 || !strings.Contains(p.Output(), "Choose another name for --id-database") {
		t.Errorf("it ended with %d:\n%s", code, p.Output())
	}

	const later = "id_database_made_later"
	args[len(args)-1] = later
	p = program.Start(t, args...)
	p.Line("are answered from memory") // the proxy has looked at the database
	admin := server.Connect(t, direct)
	server.Do(t, admin, "CREATE DATABASE "+later)
	t.Cleanup(func() { server.Exec(t, direct, "DROP DATABASE IF EXISTS "+later) })
	p.Line("level=ERROR", "a real database cannot be reached through the proxy", later)
	server.Do(t, admin, "DROP DATABASE "+later)
	p.Line("the real database with the name of --id-database is gone")
	p.Signal(syscall.SIGTERM)
	if code := p.End(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

func TestFlagsThatCannotWorkAreRefusedAllAtOnce(t *testing.T) {
	t.Parallel()
	args := []string{
		"serve", "--upstream", "127.0.0.1:1", "--lease-database", "postgres://u@127.0.0.1:1/app",
		"--id-database", "app", "--id-auth", "trust", "--listen", ":6432", "--max-id-sessions", "-1",
		"--id-segments", "other",
	}
	out, err := exec.Command(program.Path(t), args...).CombinedOutput()
	var code int
	if ended, is := err.(*exec.ExitError); is {
		code = ended.ExitCode()
	}
	if code != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, says := range []string{
		"--id-database is app, which is the lease database", "--id-auth trust lets in whoever connects",
		"--max-id-sessions is -1", `--id-segments is "other"; expected one of --databases: app`,
	} {
		if !strings.Contains(string(out), says) {
			t.Errorf("it does not say %q:\n%s", says, out)
		}
	}
}

func TestShowTellsTheLeaseTheWorkersAndWhatServesThem(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	d := trusting(t, direct, "--node", "shown")
	conn := d.anybody(t)
	id := server.Value[int64](t, conn, "SELECT next_snowflake()")
	worker := fmt.Sprint(id >> 12 & 1023)
	show := func(word string) []map[string]any {
		t.Helper()
		rows, err := conn.Query(server.Within(t), "SHOW "+word)
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowToMap)
		if err != nil {
			t.Fatalf("SHOW %s: %v", word, err)
		}
		return all
	}
	version := show("VERSION")
	if len(version) != 1 || version[0]["node"] != "shown" || version[0]["layout"] != "41/0/10/12" ||
		!strings.HasPrefix(fmt.Sprint(version[0]["version"]), "pgflurry ") {
		t.Errorf("SHOW VERSION is %v", version)
	}
	help := fmt.Sprint(show("HELP"))
	for _, says := range []string{"SHOW LEASE", "until when", "SHOW WORKERS", "as last read"} {
		if !strings.Contains(help, says) {
			t.Errorf("SHOW HELP has no %q: %s", says, help)
		}
	}
	lease := show("LEASE")
	if len(lease) != 1 || lease[0]["state"] != "held" || lease[0]["worker"] != worker ||
		lease[0]["window"] != "1m0s" || lease[0]["reserved_until"] == "" || lease[0]["cause"] != "" {
		t.Errorf("SHOW LEASE of worker %s is %v", worker, lease)
	}
	for workers := show("WORKERS"); ; workers = show("WORKERS") {
		mine := ""
		for _, row := range workers {
			if row["state"] == "mine" {
				mine = fmt.Sprint(row["worker"])
			}
			if len(row) != 3 {
				t.Fatalf("SHOW WORKERS tells more than number, state and reserved_until: %v", row)
			}
		}
		if mine == worker {
			break
		}
	}
	if server.Value[int](t, server.Connect(t, direct), `SELECT count(*) FROM pg_stat_activity
		WHERE application_name = 'pgflurry serve, accounts' AND datname = current_database()`) != 0 {
		t.Error("accounts are read though everybody is trusted")
	}
}

func TestNumbersComeFromTheDatabaseThatIsNamedAndSIGHUPNamesAnother(t *testing.T) {
	t.Parallel()
	home := server.Migrated(t)
	joined := server.Database(t)
	run(t, "namespace", "join", "--database", joined, "--home", home)
	for _, tags := range []struct {
		url  string
		from int
	}{{home, 1000}, {joined, 5000}} {
		server.Exec(t, tags.url, fmt.Sprintf(
			"INSERT INTO pgflurry.segment (biz_tag, max_id) VALUES ('order', %d)", tags.from))
	}
	path := filepath.Join(t.TempDir(), "pgflurry.toml")
	write := func(lines ...string) {
		t.Helper()
		text := fmt.Sprintf("databases = [%q, %q]\n%s\n", server.Name(t, home), server.Name(t, joined),
			strings.Join(lines, "\n"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	d := trusting(t, home, "--config", path)
	conn := d.anybody(t)
	if said := server.Refused(t, conn, "0A000", "SELECT next_segment('order')"); !strings.Contains(said.Hint,
		"--id-segments") {
		t.Errorf("with two databases and none named: %v, hint %q", said, said.Hint)
	}
	for _, c := range []struct {
		url string
		min int64
	}{{joined, 5000}, {home, 1000}} {
		name := server.Name(t, c.url)
		d.Line("next_segment() is answered from memory", "database="+name)
		write(fmt.Sprintf("id-segments = %q", name))
		from := d.Printed()
		d.Signal(syscall.SIGHUP)
		d.LineFrom(from, "configuration reloaded", "changed=id-segments")
		n := server.Value[int64](t, conn, "SELECT next_segment('order')")
		if n < c.min || n >= c.min+4000 {
			t.Errorf("number %d; expected one of %s, from %d on", n, name, c.min)
		}
	}
	server.Refused(t, conn, "42704", "SELECT next_segment('nothing')")
}

func TestSIGHUPChangesLimitsAndKeepsSessions(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	path := filepath.Join(t.TempDir(), "pgflurry.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	d := trusting(t, direct, "--config", path)
	conn := d.anybody(t)
	reload := func(text string) string {
		t.Helper()
		write(text)
		from := d.Printed()
		d.Signal(syscall.SIGHUP)
		return d.LineFrom(from, "msg=\"configuration ")
	}
	if line := reload("max-id-sessions = 1"); !strings.Contains(line, "changed=max-id-sessions") {
		t.Errorf("the reload is told as %s", line)
	}
	if said := d.refused(t, d.url("", "sslmode=disable")); said.Code != "53300" {
		t.Errorf("the second session is told %v", said)
	}
	if line := reload("max-id-sessions = -1"); !strings.Contains(line, "not reloaded") {
		t.Errorf("a number that cannot be is told as %s", line)
	}
	if line := reload(`id-idle-timeout = "50ms"`); !strings.Contains(line, "id-idle-timeout,max-id-sessions") {
		t.Errorf("the reload is told as %s", line)
	}
	isID(t, server.Value[string](t, conn, "SELECT next_snowflake()::text"))
	idle := d.anybody(t)
	var err error
	for err == nil { // until the proxy has refused a draw
		_, err = idle.PgConn().ReceiveMessage(server.Within(t))
	}
	server.Says(t, err, "57P05")
}

func TestNumbersAreGivenWhileTheirDatabasePermitsIt(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "INSERT INTO pgflurry.segment (biz_tag) VALUES ('order')")
	d := trusting(t, direct)
	conn := d.anybody(t)
	d.Line("next_segment() is answered from memory")
	server.Do(t, conn, "SELECT next_segment('order')")
	from := d.Printed()
	server.Exec(t, direct, "REVOKE EXECUTE ON FUNCTION pgflurry.next_segment(text) FROM PUBLIC")
	d.LineFrom(from, "next_segment() is relayed to PostgreSQL")
	said := server.Refused(t, conn, "0A000", "SELECT next_segment('order')")
	if !strings.Contains(said.Message, "does not permit it now") {
		t.Errorf("the client is told %v", said)
	}
	server.Do(t, conn, "SELECT next_snowflake()") // no database needs to permit this
}

// Package idsessions proves the promises of "pgflurry serve --id-database", with the product as a process and
// PostgreSQL's own clients. It tests who gets in and what the sessions get, and that they need no PostgreSQL. A login
// has the same messages as at PostgreSQL (same_test.go).
package idsessions

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.MainNoLeak(m) }

const (
	idDatabase = "pgflurry"
	user       = "shop"
	password   = "not easily guessed"
)

// A door is a proxy with an ID database.
type door struct {
	*program.Proxy
	direct string // URL of the lease database
}

// open starts a proxy with an ID database, and waits until it has a worker.
func open(t *testing.T, direct string, more ...string) *door {
	t.Helper()
	d := opening(t, direct, more...)
	d.Leased()
	return d
}

// opening waits only until the proxy accepts clients.
func opening(t *testing.T, direct string, more ...string) *door {
	t.Helper()
	flags := append([]string{"--id-database", idDatabase}, more...)
	return &door{program.ServeUnleased(t, direct, "door", flags...), direct}
}

// withClient makes an account in the table of a database, and starts a proxy that has read it.
func withClient(t *testing.T, more ...string) *door {
	t.Helper()
	direct := server.Migrated(t)
	add(t, direct, user, password)
	d := open(t, direct, more...)
	d.Line("accounts of the ID database are read", "accounts=1")
	return d
}

// add makes an account with "pgflurry clients add".
func add(t *testing.T, direct, name, secret string, more ...string) {
	t.Helper()
	cmd := exec.Command(program.Path(t), append([]string{"clients", "add", name, "--database", direct}, more...)...)
	cmd.Stdin = strings.NewReader(secret + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// url returns the URL of the ID database.
func (d *door) url(secret, options string) string {
	if secret != "" {
		secret = ":" + strings.ReplaceAll(secret, " ", "%20")
	}
	return "postgres://" + user + secret + "@" + d.Address + "/" + idDatabase + "?" + options
}

// connect logs in with the password.
func (d *door) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	return server.Connect(t, d.url(password, "sslmode=disable"))
}

// refused returns the server's answer to a login that has to fail.
func (d *door) refused(t *testing.T, url string) *pgconn.PgError {
	t.Helper()
	conn, err := pgx.Connect(server.Within(t), url)
	if err == nil {
		conn.Close(server.Within(t))
		t.Fatalf("%s is let in", url)
	}
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		t.Fatalf("nothing was said, but %v", err)
	}
	return said
}

// psql runs a statement. It returns the output and the text on standard error.
func psql(t *testing.T, url, statement string, environment ...string) (output, said string, ok bool) {
	t.Helper()
	cmd := exec.Command(server.Tool(t, "psql"), "-XAtw", url, "-c", statement)
	cmd.Env = append(os.Environ(), environment...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	return strings.TrimSpace(out.String()), complaints.String(), err == nil
}

// isID fails the test unless a text is an ID of a proxy's worker.
func isID(t *testing.T, text string) {
	t.Helper()
	id, err := strconv.ParseInt(text, 10, 64)
	if worker := id >> 12 & 1023; err != nil || worker == functionWorker {
		t.Errorf("%q is no ID from memory", text)
	}
}

// functionWorker is the worker of the function in a database that server.Migrated made.
const functionWorker = 0

// run runs the product, which has to exit 0.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(program.Path(t), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// roleWithPassword makes a role that has the password.
func roleWithPassword(t *testing.T, direct string) string {
	t.Helper()
	const name = "id_client_with_password"
	server.Role(t, direct, name)
	server.Exec(t, direct, "ALTER ROLE "+name+" PASSWORD '"+password+"'")
	return name
}

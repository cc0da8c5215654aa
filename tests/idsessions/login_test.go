package idsessions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestPsqlDrawsWithAPasswordAndPostgreSQLSeesNoSession(t *testing.T) {
	t.Parallel()
	d := withClient(t)
	out, said, ok := psql(t, d.url("", "sslmode=disable"), "SELECT next_snowflake()", "PGPASSWORD="+password)
	if !ok {
		t.Fatal(said)
	}
	isID(t, out)

	direct := server.Connect(t, d.direct)
	conn := d.connect(t)
	server.Do(t, conn, "BEGIN")
	isID(t, server.Value[string](t, conn, "SELECT next_snowflake()::text"))
	const backends = `SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND (datname = $1 OR usename = $2)`
	if n := server.Value[int](t, direct, backends, idDatabase, user); n != 0 {
		t.Errorf("PostgreSQL has %d sessions of a client of the ID database", n)
	}
}

func TestWhoIsNotListedAndWhoGuessesAreToldTheSame(t *testing.T) {
	t.Parallel()
	d := withClient(t)
	wrong := d.refused(t, d.url("guessed", "sslmode=disable"))
	unknown := d.refused(t, strings.Replace(d.url(password, "sslmode=disable"), "//"+user+":", "//nobody:", 1))
	if wrong.Code != "28P01" || unknown.Code != wrong.Code ||
		strings.Replace(unknown.Message, "nobody", user, 1) != wrong.Message || unknown.Hint != wrong.Hint {
		t.Errorf("a wrong password: %v (%s); an unknown name: %v (%s)", wrong, wrong.Hint, unknown, unknown.Hint)
	}
	d.Line("login refused", "user=nobody")
}

func TestAnAccountThatIsAddedRemovedOrExpiredCountsWithinSeconds(t *testing.T) {
	t.Parallel()
	d := withClient(t)
	open := d.connect(t)
	add(t, d.direct, "second", password)
	d.Line("accounts of the ID database have changed", "accounts=2", "before=1")
	second := strings.Replace(d.url(password, "sslmode=disable"), "//"+user+":", "//second:", 1)
	isID(t, server.Value[string](t, server.Connect(t, second), "SELECT next_snowflake()::text"))

	run(t, "clients", "remove", user, "--database", d.direct)
	d.Line("accounts of the ID database have changed", "accounts=1", "before=2")
	if said := d.refused(t, d.url(password, "sslmode=disable")); said.Code != "28P01" {
		t.Errorf("a removed client is told %v", said)
	}
	d.Line("sessions of removed accounts are ended", "sessions=1")
	server.Refused(t, open, "57P01", "SELECT next_snowflake()")
	run(t, "clients", "expire", "second", "--database", d.direct)
	from := d.Printed()
	d.LineFrom(0, "accounts of the ID database have changed", "accounts=1", "before=1")
	if said := d.refused(t, second); said.Code != "28P01" {
		t.Errorf("an expired client is told %v", said)
	}
	d.LineFrom(from, "login refused", "user=second")
}

func TestACertificateLogsInAsTheUserThatItNames(t *testing.T) {
	t.Parallel()
	ca, dir := authority.New(t, "ours"), t.TempDir()
	own := authority.Write(t, dir, "ca.pem", ca.PEM)
	cert, key := ca.Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}}).Write(t, dir, "proxy")
	direct := server.Migrated(t)
	run(t, "clients", "add", user, "--certificate-only", "--database", direct)
	d := open(t, direct, "--id-auth", "cert", "--client-tls", "require", "--client-tls-cert", cert,
		"--client-tls-key", key, "--client-tls-ca", own)
	d.Line("accounts of the ID database are read", "accounts=1")
	with := func(leaf authority.Leaf, name string) string {
		cert, key := ca.Issue(t, leaf).Write(t, dir, name)
		return d.url("", "sslmode=verify-full&sslrootcert="+own+"&sslcert="+cert+"&sslkey="+key)
	}
	for name, leaf := range map[string]authority.Leaf{
		"common name": {CommonName: user}, "alternative name": {CommonName: "robot 7", Hosts: []string{user}},
	} {
		out, said, ok := psql(t, with(leaf, strings.ReplaceAll(name, " ", "-")), "SELECT next_snowflake()")
		if !ok {
			t.Fatalf("%s: %s", name, said)
		}
		isID(t, out)
	}
	if _, said, ok := psql(t, with(authority.Leaf{CommonName: "other"}, "other"), "SELECT 1"); ok ||
		!strings.Contains(said, "certificate authentication failed for user") {
		t.Errorf("another name: %v %s", ok, said)
	}
}

func TestTrustLetsInWhoeverConnectsByAUnixSocket(t *testing.T) {
	t.Parallel()
	direct, dir := server.Migrated(t), t.TempDir()
	p := program.Start(t, program.ServeArgs(t, direct, "trusting", "--listen", filepath.Join(dir, ".s.PGSQL.6432"),
		"--id-database", idDatabase, "--id-auth", "trust")...)
	p.Line("worker acquired")
	out, said, ok := psql(t, "host="+dir+" port=6432 user=anybody dbname="+idDatabase, "SELECT next_snowflake()")
	if !ok {
		t.Fatal(said)
	}
	isID(t, out)
}

func TestAFileOfAccountsIsReadAgainAndAMistakeInItChangesNothing(t *testing.T) {
	t.Parallel()
	direct, dir := server.Migrated(t), t.TempDir()
	verifier := server.Value[string](t, server.Connect(t, direct), `SELECT rolpassword FROM pg_authid
		WHERE rolname = $1`, roleWithPassword(t, direct))
	path := authority.Write(t, dir, "clients", []byte(`"`+user+`" "`+verifier+"\"\n"))
	d := open(t, direct, "--id-auth-file", path)
	isID(t, server.Value[string](t, d.connect(t), "SELECT next_snowflake()::text"))

	authority.Write(t, dir, "clients", []byte(`"`+user+`" "in clear text"`+"\n"))
	d.Line("accounts of the ID database cannot be read: logins go on with those that were read last", "line 1")
	isID(t, server.Value[string](t, d.connect(t), "SELECT next_snowflake()::text"))

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	d.Line("accounts of the ID database cannot be read: logins go on with those that were read last", "but a pipe")
	d.Signal(syscall.SIGHUP)
	d.Line("configuration not reloaded", "but a pipe")
	isID(t, server.Value[string](t, d.connect(t), "SELECT next_snowflake()::text"))

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	authority.Write(t, dir, "clients", []byte("; nobody\n"))
	d.Line("accounts of the ID database are gone", "before=1")
	if said := d.refused(t, d.url(password, "sslmode=disable")); said.Code != "57P03" {
		t.Errorf("with an empty file a client is told %v", said)
	}
}

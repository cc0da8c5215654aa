//go:build unix

package scram_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgflurry/proxy/scram"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// passwords are of three kinds: SASLprep changes them, cannot prepare them and leaves them alone, or does not apply.
var passwords = []string{
	"right", "tab\there", "a\u00a0b", "I\u00adX", "\u00aa", "\u2168", "a\u200bb", "\u00ad", "\u00aa\U0001f642",
	"a\u1806b",
	"\u0627\u0031", "'quoted' \\ \"twice\"", " leading and trailing ", strings.Repeat("long", 200),
}

// loginRole makes a role that PostgreSQL lets in only by SCRAM.
func loginRole(t *testing.T, url, name, password string) {
	t.Helper()
	conn := server.Connect(t, url)
	server.Do(t, conn, "SET password_encryption = 'scram-sha-256'")
	statement := server.Value[string](t, conn,
		"SELECT format('CREATE ROLE %I LOGIN PASSWORD %L IN ROLE login_scram', $1::text, $2::text)", name, password)
	server.Do(t, conn, statement)
	t.Cleanup(func() { server.Exec(t, url, "DROP ROLE "+name) })
}

func TestScramInvariant1AVerifierOfPostgreSQLLetsTheSamePasswordInHere(t *testing.T) {
	url := server.Database(t)
	conn := server.Connect(t, url)
	for _, password := range passwords {
		t.Run(password[:min(len(password), 20)], func(t *testing.T) {
			loginRole(t, url, "verified", password)
			text := server.Value[string](t, conn, "SELECT rolpassword FROM pg_authid WHERE rolname = 'verified'")
			v, err := scram.ParseVerifier(text)
			if err != nil {
				t.Fatal(err)
			}
			if v.Text() != text || v.Iterations() != 4096 {
				t.Errorf("%s is written as %s, of %d iterations", text, v.Text(), v.Iterations())
			}
			if err := scram.Exchange(scram.NewServer(v, scram.Binding{}), password, nil); err != nil {
				t.Errorf("with that password: %v", err)
			}
			if err := scram.Exchange(scram.NewServer(v, scram.Binding{}), password+"x", nil); err != scram.ErrProof {
				t.Errorf("with another one: %v, expected %v", err, scram.ErrProof)
			}
		})
	}
}

func TestScramInvariant1AVerifierOfOursLetsTheSamePasswordIntoPostgreSQL(t *testing.T) {
	url := server.Database(t)
	loginRole(t, url, "lent", "replaced")
	for _, password := range passwords {
		for _, iterations := range []int{0, 1, 10_000} {
			v, err := scram.NewVerifier(password, iterations)
			if err != nil {
				t.Fatal(err)
			}
			server.Exec(t, url, "ALTER ROLE lent PASSWORD '"+v.Text()+"'")
			if err := psql(t, url, "lent", password); err != nil {
				t.Errorf("%+q with %v: %v", password, v, err)
			}
		}
	}
	if err := psql(t, url, "lent", "wrong"); err == nil {
		t.Error("a wrong password gets in")
	}
}

// psql connects as a user with a password, and never prompts.
func psql(t *testing.T, url, user, password string) error {
	t.Helper()
	command := exec.Command(server.Tool(t, "psql"), server.As(t, url, user, ""), "-XAtq", "-c", "")
	command.Env = append(os.Environ(), "PGPASSWORD="+password)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w, it says %s", err, out)
	}
	return nil
}

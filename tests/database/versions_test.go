//go:build full

package database

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// newer makes a schema look as if a later version had migrated it. serves is the oldest revision of a program that may
// keep leases there.
func newer(t testing.TB, url string, serves int) {
	t.Helper()
	server.Exec(t, url, fmt.Sprintf(`CREATE OR REPLACE FUNCTION pgflurry.revision() RETURNS integer
		LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT %d';
		CREATE OR REPLACE FUNCTION pgflurry.leases_from() RETURNS integer
			LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT %d';
		UPDATE pgflurry.namespace SET installed_by = '9.8.7'`, namespace.Revision+1, serves))
}

func TestMigrationInvariant3AnOlderProgramChangesNothingInANewerSchemaAndSaysWhichToUse(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	newer(t, url, namespace.Revision)
	conn := server.Connect(t, url)
	before := values[string](t, conn, catalog)
	wanted := []string{
		fmt.Sprintf("has revision %d, and this program knows revision %d", namespace.Revision+1, namespace.Revision),
		"Use pgflurry 9.8.7",
	}
	says(t, migrations.Up(within(t), url, migrations.Settings{}), wanted...)
	says(t, migrations.Up(within(t), server.Database(t), migrations.Settings{JoinURL: url}), wanted...)
	says(t, down(t, url), wanted...)
	for _, args := range [][]string{
		{"migrate", "status"}, {"workers", "retire", "99"}, {"workers", "reseed", "--yes"},
	} {
		out, err := exec.CommandContext(within(t), program.Path(t), append(args, "--database", url)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), wanted[0]) || !strings.Contains(string(out), wanted[1]) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	if after := values[string](t, conn, catalog); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Error("an older program has changed something")
	}
}

func TestServeGoesOnWhereANewerSchemaSaysThatItMayAndEndsWhereItSaysThatItMayNot(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	newer(t, url, namespace.Revision)
	proxy := program.Serve(t, url, "one")
	proxy.Leased()
	newer(t, url, namespace.Revision+1)
	refused := program.ServeUnleased(t, url, "two")
	refused.Line("has revision", "and this program knows revision")
	if code := refused.End(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

func TestASchemaThatIsOlderThanTheProgramSaysSo(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, "ALTER TABLE pgflurry.namespace DROP COLUMN claim")
	_, err := namespace.Read(within(t), server.Connect(t, url))
	if !errors.As(err, new(*namespace.OlderError)) {
		t.Fatalf("%v", err)
	}
	says(t, err, "older version", "migrate up")
}

func TestASchemaWithoutItsRowsAndWithoutItsRevisionIsRefused(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	file := filepath.Join(t.TempDir(), "schema.sql")
	dumped := exec.CommandContext(within(t), server.Tool(t, "pg_dump"), "--schema-only", "--file", file,
		server.Migrated(t))
	if out, err := dumped.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(within(t), server.Tool(t, "psql"), "-X", "-q", "-d", url, "-f", file).
		CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server.Exec(t, url, "DROP FUNCTION pgflurry.revision()")
	says(t, migrations.Up(within(t), url, migrations.Settings{}), "has tables but no record of its migrations",
		"with the data of schema pgflurry")
}

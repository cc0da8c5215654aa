//go:build full

package upgrade

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/namespace"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// These tests make an older schema by removing something, and a later one by changing the functions that report what is
// installed.

func TestAProxyThatIsNewerThanTheSchemaRelaysUntilTheMigrationHasRun(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	const rename = "ALTER TABLE pgflurry.namespace RENAME COLUMN "
	server.Exec(t, direct, rename+"installed_by TO not_made_yet")
	p := program.ServeUnleased(t, direct, "early")
	if line := p.Line("no worker is leased"); !strings.Contains(line, "older version than this program") ||
		!strings.Contains(line, "pgflurry migrate up") {
		t.Errorf("the log does not say what to run: %s", line)
	}
	conn := server.Connect(t, p.URL)
	if worker := drawWorker(t, conn); worker >= functions {
		t.Errorf("worker %d has answered; expected the database's function", worker)
	}
	server.Exec(t, direct, rename+"not_made_yet TO installed_by")
	p.Leased()
	for worker := 0; worker < functions; {
		worker = drawWorker(t, conn) // in the open session
	}
}

func TestAProxyThatRunsGoesOnWhateverALaterSchemaSays(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "running", "--window", "1s")
	server.Exec(t, direct, fmt.Sprintf(`CREATE OR REPLACE FUNCTION pgflurry.revision() RETURNS integer
			LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT %[1]d';
		CREATE OR REPLACE FUNCTION pgflurry.leases_from() RETURNS integer
			LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT %[1]d';
		ALTER TABLE pgflurry.worker ADD COLUMN made_later text;
		ALTER TABLE pgflurry.namespace ADD COLUMN made_later text`,
		namespace.Revision+1))
	conn := server.Connect(t, direct)
	const mark = "SELECT reserved_until FROM pgflurry.worker WHERE node = 'running'"
	before := server.Value[int64](t, conn, mark)
	server.Eventually(t, conn, "("+mark+") > $1", before)
	if worker := drawWorker(t, server.Connect(t, p.URL)); worker < functions {
		t.Errorf("worker %d has answered; expected the proxy's", worker)
	}
	// A proxy asks for this permission only when it starts.
	again := program.ServeUnleased(t, direct, "again")
	again.Line(fmt.Sprintf("has revision %d, and this program knows revision %d", namespace.Revision+1,
		namespace.Revision))
	if code := again.End(); code == 0 {
		t.Error("a proxy that is too old for the schema has ended with exit code 0")
	}
}

// drawWorker draws an ID and returns its worker.
func drawWorker(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	var id int64
	if err := conn.QueryRow(server.Within(t), draw, pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return int(id>>12) & 1023
}

//go:build full

package clients

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestEveryDriverDrawsInTheIDDatabaseAsDirectlyAlsoWithPostgreSQLStopped(t *testing.T) {
	deeds.Wanted(t)
	m := newMatrix(t)
	home := newIDDatabase(t, m, "5m", drivers...)
	direct, seen := make(map[string][]deeds.Line), make(map[string]cells)
	began := time.Now()
	for _, d := range drivers {
		t.Run(d.Name, func(t *testing.T) {
			m.Asked(t, d.Program, install)
			direct[d.Name] = m.record(t, d, m.direct, bareDeeds)
			there := m.record(t, d, home.url, bareDeeds)
			compare(t, direct[d.Name], there)
			allFromMemory(t, there)
			seen[d.Name] = bareRowOf(t, d, there)
			m.refusesTables(t, d, home.url)
		})
	}
	// The time of two visits by each driver is enough for the third. It is also long enough for the proxy to forget
	// wrong passwords of the second visit: it allows an address a hundred at once.
	home.stop(max(time.Since(began), 100*time.Second))
	for _, d := range drivers {
		if direct[d.Name] == nil {
			continue // PGFLURRY_TEST_CLIENTS did not ask for it
		}
		t.Run(d.Name+", PostgreSQL stopped", func(t *testing.T) {
			there := m.record(t, d, home.url, bareDeeds)
			compare(t, direct[d.Name], there)
			allFromMemory(t, there)
		})
	}
	if !t.Failed() {
		settle(t, seen)
	}
}

// This test needs only drivers that the other tests need, too.
func TestTheIDDatabaseIsToPsqlPgxAndPgBouncerWhatPostgreSQLIsAlsoWithItStopped(t *testing.T) {
	server.Tool(t, "psql")
	m := newMatrix(t)
	psql := drivers[slices.IndexFunc(drivers, func(d driver) bool { return d.Name == "psql" })]
	home := newIDDatabase(t, m, "60s", psql)
	directly := server.As(t, m.direct, "client_scram", "right")
	expected := m.record(t, psql, m.direct, bareDeeds)
	all := func(t *testing.T) {
		t.Helper()
		there := m.record(t, psql, home.url, bareDeeds)
		compare(t, expected, there)
		allFromMemory(t, there)
		for mode := range queryModes {
			sameButForTheIDs(t, directly, home.url, mode, bareSession)
		}
	}
	t.Run("psql and pgx", all)
	for _, pooling := range []string{"session", "transaction"} {
		t.Run("PgBouncer, pool_mode "+pooling, func(t *testing.T) {
			settings := []string{"pool_mode = " + pooling, "server_reset_query_always = 1", "server_check_delay = 0"}
			before, there := server.Pooler(t, directly, 2, settings...), server.Pooler(t, home.url, 2, settings...)
			for range 3 {
				sameButForTheIDs(t, before, there, pgx.QueryExecModeExec, bareTransactions)
			}
		})
	}
	t.Run("what needs tables is refused", func(t *testing.T) { refused(t, home.url) })
	home.stop(10 * time.Second)
	t.Run("psql and pgx, PostgreSQL stopped", all)
}

// refused expects an error with a hint, and a session that goes on.
func refused(t *testing.T, at string) {
	t.Helper()
	conn := server.Connect(t, at)
	for _, sql := range []string{
		"CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY)",
		"INSERT INTO item DEFAULT VALUES RETURNING id",
		"SELECT count(*) FROM information_schema.tables WHERE table_schema = CURRENT_SCHEMA() AND table_name = $1",
		"SELECT last_value FROM next_snowflake, item",
	} {
		_, err := conn.Prepare(t.Context(), "", sql)
		said := new(pgconn.PgError)
		if !errors.As(err, &said) || said.Code != "0A000" || !strings.Contains(said.Hint, "tables are in") {
			t.Errorf("%s gives %v, hint %q; expected 0A000 and where tables are", sql, err, server.Hint(err))
		}
		if id := server.Value[int64](t, conn, draw); id <= 0 {
			t.Errorf("then %d is no ID", id)
		}
	}
}

// idDatabase is a proxy with an ID database. Its lease is in a cluster of its own.
type idDatabase struct {
	t       *testing.T
	url     string // of the ID database, for client_scram
	cluster *postgres.Cluster
}

// newIDDatabase starts one with that window. client_scram and the roles of the drivers may log in.
func newIDDatabase(t *testing.T, m *matrix, window string, of ...driver) *idDatabase {
	t.Helper()
	h := &idDatabase{t: t, cluster: server.Private(t, nil)}
	lease := h.cluster.URL("postgres")
	run(t, "", "migrate", "up", "--database", lease)
	run(t, "", "namespace", "set", "--database", lease, "--max-window", window)
	run(t, "right\n", "clients", "add", "client_scram", "--database", lease)
	for _, d := range of {
		run(t, "right\n", "clients", "add", roleOf(d), "--database", lease)
		server.Exec(t, m.direct, "CREATE ROLE "+roleOf(d)+" LOGIN PASSWORD 'right' IN ROLE login_scram")
		m.roles = append(m.roles, roleOf(d))
	}
	proxy := m.serve(t, lease, "ids", "--id-database", "pgflurry", "--window", window)
	proxy.Line("accounts of the ID database are read")
	h.url = server.As(t, server.In(t, proxy.URL, "pgflurry"), "client_scram", "right")
	return h
}

// roleOf returns the role of a driver in a database without tables.
func roleOf(d driver) string {
	all := slices.Concat(drivers, light)
	return "client_" + strconv.Itoa(slices.IndexFunc(all, func(other driver) bool { return other.Name == d.Name }))
}

// run runs the product, which has to exit 0.
func run(t *testing.T, input string, arguments ...string) {
	t.Helper()
	command := exec.Command(program.Path(t), arguments...)
	command.Stdin = strings.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("pgflurry %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// stop waits until the lease lasts for the reserve, and stops PostgreSQL then.
func (h *idDatabase) stop(reserve time.Duration) {
	h.t.Helper()
	lasts(h.t, h.url, reserve)
	server.Stop(h.t, h.cluster)
}

// lasts waits until the lease of an ID database's proxy lasts for the reserve.
func lasts(t *testing.T, url string, reserve time.Duration) {
	t.Helper()
	conn := server.Connect(t, url)
	defer conn.Close(context.Background())
	ctx := server.Within(t)
	for left := time.Duration(0); left < reserve; {
		rows, _ := conn.Query(ctx, "SHOW LEASE")
		lease, err := pgx.CollectExactlyOneRow(rows, pgx.RowToMap)
		if err != nil {
			t.Fatalf("the lease does not last %v, but %v: %v", reserve, left, err)
		}
		text, _ := lease["reserved_for"].(string)
		if left, err = time.ParseDuration(text); err != nil {
			t.Fatalf("SHOW LEASE gives %v: %v", lease, err)
		}
	}
}

// allFromMemory fails if PostgreSQL's function gave an ID.
func allFromMemory(t *testing.T, lines []deeds.Line) {
	t.Helper()
	for _, l := range lines {
		for _, id := range l.IDs {
			if deeds.WorkerOf(t, id) == deeds.DatabaseWorker {
				t.Errorf("%s: ID %s is PostgreSQL's", l.Deed, id)
			}
		}
	}
}

// ORMs are those that make and read tables by themselves.
var orms = []string{"GORM", "Django", "SQLAlchemy", "Drizzle"}

// refusesTables lets an ORM make a table and a row. The ORM must get an error that says why it cannot.
func (m *matrix) refusesTables(t *testing.T, d driver, at string) {
	t.Helper()
	if !slices.Contains(orms, d.Name) {
		return
	}
	needsTable := []string{"default"}
	for _, l := range m.Try(t, d.Program, needsTable, m.environment(t, d, at, needsTable)) {
		if !strings.Contains(l.SQLState+l.Error, "0A000") {
			t.Errorf("%s: %v %s (SQLSTATE %q); expected 0A000", l.Deed, l.Result, l.Error, l.SQLState)
		}
	}
}

// bareSession says all that the ID database answers as PostgreSQL does.
func bareSession(s *speaker) {
	bareTransactions(s)
	s.ask("SET application_name = 'bare'")
	s.ask("SHOW application_name")
	s.ask("DISCARD ALL")
	s.ask(draw)
}

// bareTransactions says the part that a pooler in transaction mode allows.
func bareTransactions(s *speaker) {
	for n := range 3 {
		s.ask(draw)
		s.ask("SELECT current_setting($1), current_user, current_schema()", []string{
			"application_name", "TimeZone", "DateStyle",
		}[n])
	}
	s.ask("SELECT * FROM next_snowflakes($1)", 3)
	s.ask("SELECT next_snowflake() AS id FROM generate_series(1, $1)", 3)
	s.ask("SELECT next_snowflake() AS id FROM generate_series(1, 3)")
	s.ask("BEGIN")
	s.ask(draw)
	s.ask("COMMIT")
	s.ask("BEGIN ISOLATION LEVEL SERIALIZABLE")
	s.ask("SHOW TRANSACTION ISOLATION LEVEL")
	s.ask("SAVEPOINT here")
	s.ask("SELEC 1")
	s.ask(draw)
	s.ask("ROLLBACK TO SAVEPOINT here")
	s.ask(draw)
	s.ask("SELEC 1")
	s.ask("COMMIT")
	s.ask(draw)
	s.batch()
	s.ask(draw)
}

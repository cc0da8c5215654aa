//go:build full

package printed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// layouts are the default one, with 1,024 workers, and one with 64.
var layouts = []string{"41/0/10/12", "javascript"}

// made returns the name of a layout's template database.
func made(layout string) string { return "made_" + layout[:2] }

// A workshop makes new databases on a server that makes every commit durable, and times each step.
type workshop struct {
	b       *testing.B
	base    string // URL of database postgres
	admin   *pgx.Conn
	program string
	printed string // a file
	psql    string
	took    map[string][]time.Duration
	steps   []string // in the order of the first round
}

// time runs a step and notes how long it took.
func (w *workshop) time(step string, do func() error) {
	w.b.Helper()
	begin := time.Now()
	err := do()
	took := time.Since(begin)
	if err != nil {
		w.b.Fatalf("%s: %v", step, err)
	}
	if !slices.Contains(w.steps, step) {
		w.steps = append(w.steps, step)
	}
	w.took[step] = append(w.took[step], took)
}

// sql times one statement on the connection to database postgres.
func (w *workshop) sql(step, statement string) {
	w.b.Helper()
	w.time(step, func() error { _, err := w.admin.Exec(context.Background(), statement); return err })
}

// within times one statement in a new session of a database.
func (w *workshop) within(step, database, statement string) {
	w.b.Helper()
	w.time(step, func() error {
		conn, err := pgx.Connect(context.Background(), server.In(w.b, w.base, database))
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), statement)
		return err
	})
}

// command times one program.
func (w *workshop) command(step, name string, args ...string) {
	w.b.Helper()
	w.time(step, func() error {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}

// idle waits until a database has no session. PostgreSQL itself would wait in steps of 100 ms.
func (w *workshop) idle(database string) {
	w.b.Helper()
	server.Eventually(w.b, w.admin, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = $1)", database)
}

// round does each step once.
func (w *workshop) round() {
	url := func(database string) string { return server.In(w.b, w.base, database) }
	w.sql("CREATE DATABASE", "CREATE DATABASE empty")
	w.within("a session that does SELECT 1", "empty", "SELECT 1")
	w.command("psql that does SELECT 1", w.psql, "-Xq", "-d", url("empty"), "-c", "SELECT 1")
	w.idle("empty")
	w.sql("DROP DATABASE of an empty one", "DROP DATABASE empty")

	for _, layout := range layouts {
		w.sql("CREATE DATABASE", "CREATE DATABASE migrated")
		w.command("pgflurry migrate up, layout "+layout, w.program, "migrate", "up", "--database", url("migrated"),
			"--layout", layout)
		w.idle("migrated")
		w.sql("DROP DATABASE of a migrated one", "DROP DATABASE migrated")
		w.sql("CREATE DATABASE … TEMPLATE, layout "+layout, "CREATE DATABASE clone TEMPLATE "+made(layout))
		w.within("a session that does SELECT next_snowflake(), its first", "clone", "SELECT next_snowflake()")
		w.within("a session that does CALL pgflurry.new_namespace(), layout "+layout, "clone",
			"CALL pgflurry.new_namespace()")
		w.idle("clone")
		w.sql("DROP DATABASE of a clone", "DROP DATABASE clone")
	}

	w.sql("CREATE DATABASE", "CREATE DATABASE printed")
	for _, step := range []string{"psql with the printed script", "psql with the printed script, again"} {
		w.command(step, w.psql, "-Xq", "-v", "ON_ERROR_STOP=1", "-d", url("printed"), "-f", w.printed)
	}
	w.idle("printed")
	w.sql("DROP DATABASE of a migrated one", "DROP DATABASE printed")
}

// table returns a row for each step: the median and the quartiles, in milliseconds.
func (w *workshop) table() string {
	var out strings.Builder
	out.WriteString("| step | median, ms | quartiles |\n|---|---|---|\n")
	for _, step := range w.steps {
		took := slices.Sorted(slices.Values(w.took[step]))
		at := func(share int) float64 { return float64(took[(len(took)-1)*share/4].Microseconds()) / 1000 }
		fmt.Fprintf(&out, "| %s | %.0f | %.0f to %.0f |\n", step, at(2), at(1), at(3))
	}
	return out.String()
}

// The steps of docs/test-databases.md. Each round does all of them, so that other work on the machine meets them alike.
func BenchmarkAFreshDatabase(b *testing.B) {
	cluster := server.Private(b, map[string]string{"fsync": "on", "full_page_writes": "on", "wal_level": "replica"})
	w := &workshop{
		b: b, base: cluster.URL("postgres"), program: program.Path(b), psql: server.Tool(b, "psql"),
		printed: filepath.Join(b.TempDir(), "pgflurry.sql"), took: map[string][]time.Duration{},
	}
	w.admin = server.Connect(b, w.base)
	text := form(migrations.Print).text(b, migrations.Settings{})
	if err := os.WriteFile(w.printed, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, layout := range layouts {
		w.sql("", "CREATE DATABASE "+made(layout))
		err := migrations.Up(b.Context(), server.In(b, w.base, made(layout)),
			migrations.Settings{Layout: layout, Disposable: true})
		if err != nil {
			b.Fatal(err)
		}
		w.idle(made(layout))
	}
	w.round() // not counted: the caches are empty
	w.took, w.steps = map[string][]time.Duration{}, nil
	for b.Loop() {
		w.round()
	}
	b.ReportMetric(0, "ns/op")
	b.Logf("%d rounds\n%s", b.N, w.table())
}

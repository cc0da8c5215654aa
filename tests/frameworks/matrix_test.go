//go:build full

package frameworks

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

//go:embed counts.sql
var countsSQL string

//go:embed keys.sql
var keysSQL string

//go:embed references.sql
var referencesSQL string

//go:embed definitions.sql
var definitionsSQL string

func TestMain(m *testing.M) { server.Main(m) }

func TestEveryFrameworkWritesThroughTheProxyWhatItWritesDirectlyAndNoIDTwice(t *testing.T) {
	deeds.Wanted(t)
	m := newMatrix(t)
	seen := make(map[string][]string)
	for _, f := range frameworks {
		t.Run(f.Name, func(t *testing.T) {
			version := m.Asked(t, f.Program, install)
			direct := m.all(t, f, m.empty(t, f, "direct"), nil)
			behind := m.empty(t, f, "proxied")
			proxy := program.ServeUnleased(t, behind, "frameworks")
			through := m.all(t, f, behind, proxy)
			compare(t, f, direct, through)
			seen[f.Name] = cells(f, version, direct, through)
		})
	}
	if !t.Failed() {
		settle(t, seen)
	}
}

// matrix is what all frameworks share: one cluster that counts statements, and every ID that any of them has seen.
type matrix struct {
	*deeds.Maker
	cluster  *postgres.Cluster
	counter  *pgx.Conn
	plain    string   // file that pgflurry migrate print wrote
	escaped  string   // the same with --escaped
	expected []string // what pgflurry migrate up makes
	seen     deeds.Seen
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	m := &matrix{
		Maker: deeds.NewMaker(t), seen: make(deeds.Seen),
		cluster: server.Private(t, map[string]string{"shared_preload_libraries": "pg_stat_statements"}),
		plain:   printed(t, migrations.Print), escaped: printed(t, migrations.PrintEscaped),
		expected: server.Values[string](t, server.Connect(t, server.Migrated(t)), definitionsSQL),
	}
	m.counter = server.Connect(t, m.cluster.URL("postgres"))
	server.Do(t, m.counter, "CREATE EXTENSION pg_stat_statements")
	if len(m.expected) < 100 {
		t.Fatalf("pgflurry migrate up made %d definitions; expected hundreds", len(m.expected))
	}
	return m
}

// printed writes the migration as text into a file.
func printed(t *testing.T, print func(io.Writer, migrations.Settings) error) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "pgflurry.sql"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := print(file, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// empty makes a database for a framework and returns its URL.
func (m *matrix) empty(t *testing.T, f framework, way string) string {
	t.Helper()
	name := "shop_" + notInNames.ReplaceAllString(strings.ToLower(f.Name), "_") + "_" + way
	server.Do(t, m.counter, "CREATE DATABASE "+name)
	return m.cluster.URL(name)
}

// done is the result of one deed, and the statements that PostgreSQL ran for it.
type done struct {
	deeds.Line
	statements
}

// statements counts those that insert, those that draw, and others that touch the tables.
type statements struct{ inserts, draws, others int }

// ran counts the statements that PostgreSQL has run in a database so far. It never resets the counters. After a reset
// PostgreSQL keeps the text of an older prepared statement with its constants. One of the proxy's own statements has
// the name of the function as a constant.
func (m *matrix) ran(t *testing.T, database string) (s statements) {
	t.Helper()
	err := m.counter.QueryRow(server.Within(t), countsSQL, database).Scan(&s.inserts, &s.draws, &s.others)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// environment returns the variables that the programs read.
func (m *matrix) environment(t *testing.T, at string) []string {
	t.Helper()
	return append(server.Environment(t, at), "FRAMEWORK_MIGRATION="+m.plain, "FRAMEWORK_ESCAPED="+m.escaped,
		"FRAMEWORK_SCRATCH="+t.TempDir())
}

// all does all deeds in a database, through a proxy if there is one, and checks the rows after each.
func (m *matrix) all(t *testing.T, f framework, direct string, proxy *program.Proxy) (all []done) {
	t.Helper()
	at := direct
	if proxy != nil {
		at = proxy.URL
	}
	environment, port := m.environment(t, at), server.Parse(t, at).Port()
	for _, deed := range allDeeds {
		before := m.ran(t, server.Name(t, direct))
		d := done{Line: m.Run(t, f.Program, []string{deed}, environment)[0]}
		if t.Failed() {
			t.FailNow()
		}
		after := m.ran(t, server.Name(t, direct))
		d.statements = statements{
			after.inserts - before.inserts, after.draws - before.draws, after.others - before.others,
		}
		m.seen.Note(t, fmt.Sprintf("%s, %s, port %s", f.Name, deed, port), d.IDs)
		d.Result = deeds.Masked(d.Result, port)
		if d.None == "" {
			m.look(t, direct, d)
		}
		if deed == "migrate" && proxy != nil {
			proxy.Leased() // the migration has just made the namespace
		}
		all = append(all, d)
	}
	return all
}

// look fails unless a deed left the right rows in the database.
func (m *matrix) look(t *testing.T, direct string, d done) {
	t.Helper()
	conn := server.Connect(t, direct)
	expected := map[string]int{"insert": 1, "batch": 1000, "ahead": 1000, "foreign_key": 3, "test_database": 1}[d.Deed]
	if len(d.IDs) != expected {
		t.Errorf("%s gave %d IDs; expected %d", d.Deed, len(d.IDs), expected)
	}
	authors := func(ids []string) int {
		return server.Value[int](t, conn,
			"SELECT count(*) FROM author WHERE id = ANY($1::bigint[]) AND name <> ''", numbers(t, ids))
	}
	switch d.Deed {
	case "migrate":
		if made := server.Values[string](t, conn, definitionsSQL); !slices.Equal(made, m.expected) {
			t.Errorf("migrate made another pgflurry than pgflurry migrate up: %s", difference(made, m.expected))
		}
		if keys := server.Values[string](t, conn, keysSQL); !slices.Equal(keys, []string{"author", "book"}) {
			t.Errorf("tables with a key bigint DEFAULT next_snowflake(): %q; expected author and book", keys)
		}
		if !server.Value[bool](t, conn, referencesSQL) {
			t.Error("migrate made no foreign key from book to author")
		}
	case "foreign_key":
		ids := numbers(t, d.IDs)
		books := server.Value[int](t, conn,
			"SELECT count(*) FROM book WHERE id = ANY($1::bigint[]) AND author_id = $2", ids[1:], ids[0])
		if n := authors(d.IDs[:1]); n != 1 || books != 2 {
			t.Errorf("foreign_key gave IDs of %d authors and of %d books of theirs; expected 1 and 2", n, books)
		}
	case "test_database":
		if n := authors(d.IDs); n != 0 {
			t.Error("test_database wrote into the database that is no test's")
		}
	default:
		if n := authors(d.IDs); n != expected {
			t.Errorf("%s: %d authors have the IDs that it gave; expected %d", d.Deed, n, expected)
		}
	}
}

// difference returns the definitions that only one side has.
func difference(made, expected []string) string {
	var all strings.Builder
	for _, d := range made {
		if !slices.Contains(expected, d) {
			fmt.Fprintf(&all, "\nmade: %s", d)
		}
	}
	for _, d := range expected {
		if !slices.Contains(made, d) {
			fmt.Fprintf(&all, "\nexpected: %s", d)
		}
	}
	return all.String()
}

func numbers(t *testing.T, ids []string) (all []int64) {
	t.Helper()
	for _, id := range ids {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// compare fails if the proxy changes anything else than the source of IDs that are drawn ahead.
func compare(t *testing.T, f framework, direct, through []done) {
	t.Helper()
	for i, d := range direct {
		p := through[i]
		if d.None != p.None || !reflect.DeepEqual(d.Result, p.Result) {
			t.Errorf("%s:\ndirect  %v %s\nproxied %v %s", d.Deed, d.Result, d.None, p.Result, p.None)
		}
		if d.inserts != p.inserts || d.others != p.others || !f.draws && d.Deed != "ahead" && d.draws != p.draws {
			t.Errorf("%s: PostgreSQL ran %+v directly, %+v through the proxy", d.Deed, d.statements, p.statements)
		}
		if n := deeds.FromMemory(t, d.IDs); n > 0 {
			t.Errorf("%s: %d IDs of the direct connection are of a proxy's worker", d.Deed, n)
		}
		switch n := deeds.FromMemory(t, p.IDs); {
		case d.Deed != "ahead" && !f.draws && n > 0:
			t.Errorf("%s: %d IDs are of the proxy's worker; expected those of the DEFAULT", d.Deed, n)
		case d.Deed == "ahead" && d.None == "" && 2*n < len(p.IDs):
			t.Errorf("ahead: the proxy gave %d of %d IDs; expected most of them", n, len(p.IDs))
		}
	}
}

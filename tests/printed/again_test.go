//go:build full

package printed

import (
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// run sends a text as one statement, as a tool that knows only the extended protocol does.
func run(t testing.TB, conn *pgx.Conn, text string) error {
	t.Helper()
	_, err := conn.Exec(server.Within(t), text, pgx.QueryExecModeExec)
	return err
}

// runs is run for a text that must not fail.
func runs(t testing.TB, conn *pgx.Conn, text string) {
	t.Helper()
	if err := run(t, conn, text); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
}

// isWhole fails unless the database is as this version of the program makes it, and draws an ID.
func isWhole(t testing.TB, url string) {
	t.Helper()
	state, err := migrations.Status(server.Within(t), url)
	if err != nil || !state.InPlace() {
		t.Fatalf("status: %+v, %v; expected that all is in place", state, err)
	}
	server.Exec(t, url, "SELECT next_snowflake()")
}

// settings are the session's. Those of PL/pgSQL are left out: they appear when it is first used.
const settings = `SELECT name || '=' || setting FROM pg_settings WHERE name !~ '^plpgsql' ORDER BY name`

func TestAPrintIsOneStatementThatNeedsNoTransactionAndPutsSettingsBack(t *testing.T) {
	t.Parallel()
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			url := server.Database(t)
			conn := server.Connect(t, url)
			server.Do(t, conn, "SET search_path = public, pg_temp; SET check_function_bodies = off; "+
				"SET client_min_messages = error; SET lock_timeout = '5s'")
			before := server.Values[string](t, conn, settings)
			text := f.text(t, migrations.Settings{})
			runs(t, conn, text)
			isWhole(t, url)
			server.Do(t, conn, "BEGIN; SET LOCAL search_path = pg_temp")
			runs(t, conn, text)
			if path := server.Value[string](t, conn, "SHOW search_path"); path != "pg_temp" {
				t.Errorf("behind the print the transaction has search_path %s", path)
			}
			server.Do(t, conn, "COMMIT")
			if after := server.Values[string](t, conn, settings); !slices.Equal(after, before) {
				t.Errorf("%d settings were set, %d are; the first that differs: %q", len(before), len(after),
					slices.DeleteFunc(after, func(s string) bool { return slices.Contains(before, s) }))
			}
		})
	}
}

// rows is everything that a second run must not change.
const rows = `SELECT n::text FROM pgflurry.namespace AS n
	UNION ALL SELECT w::text FROM pgflurry.worker AS w UNION ALL SELECT m::text FROM pgflurry.migration AS m ORDER BY 1`

func TestASecondRunChangesNoRowAndPutsBackWhatIsMissing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	before := server.Values[string](t, conn, rows)
	server.Do(t, conn, "DROP FUNCTION public.snowflake_time(bigint)")
	runs(t, conn, form(migrations.Print).text(t, migrations.Settings{}))
	if after := server.Values[string](t, conn, rows); !slices.Equal(after, before) {
		t.Error("the second run has changed rows")
	}
	isWhole(t, url)
}

func TestAPrintSaysWhichVersionInstalledTheFunctions(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, migrations.Settings{Version: "v1"})
	conn := server.Connect(t, url)
	for _, f := range forms {
		runs(t, conn, f.text(t, migrations.Settings{Version: "v2 'of mine'"}))
		const by = "SELECT installed_by FROM pgflurry.namespace"
		if version := server.Value[string](t, conn, by); version != "v2 'of mine'" {
			t.Errorf("installed by %q", version)
		}
	}
}

func TestASecondRunWithAnotherLayoutIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	const texts = "SELECT string_agg(prosrc, '' ORDER BY oid) FROM pg_proc"
	before := server.Value[string](t, conn, texts)
	server.Says(t, run(t, conn, form(migrations.Print).text(t, migrations.Settings{Layout: "javascript"})),
		"has layout 41/0/10/12", "A layout cannot change")
	if server.Value[string](t, conn, texts) != before {
		t.Error("a function has changed")
	}
	isWhole(t, url)
}

func TestAPrintRefusesACopyAndSaysWhatToRun(t *testing.T) {
	t.Parallel()
	clone := server.TemplateCopy(t, server.Migrated(t), "printed_copy")
	conn := server.Connect(t, clone)
	text := form(migrations.Print).text(t, migrations.Settings{})
	server.Says(t, run(t, conn, text), "is a copy", "migrate up", "CALL pgflurry.new_namespace()")
	server.Do(t, conn, "CALL pgflurry.new_namespace()")
	runs(t, conn, text)
	isWhole(t, clone)
}

func TestAPrintMakesTheRowsWhereASchemaCameWithoutItsData(t *testing.T) {
	t.Parallel()
	dump, url := server.Tool(t, "pg_dump"), server.Database(t)
	schema, err := exec.CommandContext(server.Within(t), dump, "--schema-only", "--dbname", server.Migrated(t)).Output()
	if err != nil {
		t.Fatal(err)
	}
	// newer versions of pg_dump write meta-commands that only psql knows
	server.Exec(t, url, regexp.MustCompile(`(?m)^\\(un)?restrict .*$`).ReplaceAllString(string(schema), ""))
	conn := server.Connect(t, url)
	server.Refused(t, conn, "SNF03", "SELECT public.next_snowflake()")
	runs(t, conn, form(migrations.Print).text(t, migrations.Settings{}))
	isWhole(t, url)
}

func TestAPrintMakesTheFunctionsAgainWhereSchemaPublicWasDropped(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE public.item (id bigint DEFAULT next_snowflake())")
	before := server.Values[string](t, conn, rows)
	server.Do(t, conn, "DROP SCHEMA public CASCADE; CREATE SCHEMA public") // Prisma resets a database like this
	runs(t, conn, form(migrations.Print).text(t, migrations.Settings{}))
	if after := server.Values[string](t, conn, rows); !slices.Equal(after, before) {
		t.Error("the second run has changed rows")
	}
	isWhole(t, url)
}

func TestAPrintWaitsForAMigrationThatRuns(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	other, conn := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, other, "SELECT pg_advisory_lock(x'7067666c75727279'::bigint)")
	done := make(chan error, 1)
	text := form(migrations.Print).text(t, migrations.Settings{})
	go func() {
		_, err := conn.Exec(server.Within(t), text, pgx.QueryExecModeExec)
		done <- err
	}()
	server.Blocked(t, other, 1)
	server.Do(t, other, "SELECT pg_advisory_unlock(x'7067666c75727279'::bigint)")
	if err := <-done; err != nil {
		t.Error(err)
	}
	isWhole(t, url)
}

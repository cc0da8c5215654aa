package database

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// inPublic lists the functions of pgflurry in public, by name.
const inPublic = `SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`

var (
	familyNames = []string{
		"next_snowflake", "next_snowflakes", "snowflake_base32", "snowflake_ceil", "snowflake_floor",
		"snowflake_from_base32", "snowflake_parts", "snowflake_sequence", "snowflake_settled", "snowflake_text",
		"snowflake_time", "snowflake_worker",
	}
	others = []string{
		"get_counter", "incr", "incrby", "issue_token", "next_auto_increment", "next_replace_id", "next_segment",
		"next_segments", "redeem_token", "renew_lock", "set_counter", "try_lock", "unlock", "uuidv4", "uuidv7",
		"uuidv7_time",
	}
	all       = migrations.Settings{Functions: sqlfuncs.All}
	snowflake = migrations.Settings{Functions: sqlfuncs.Snowflake}
)

// hasInPublic expects the names of the family in public, and no others. If every is true it expects all others, too.
func hasInPublic(t testing.TB, url string, every bool) {
	t.Helper()
	want := slices.Clone(familyNames)
	if every {
		want = slices.Sorted(slices.Values(append(want, others...)))
	}
	if got := values[string](t, server.Connect(t, url), inPublic); !slices.Equal(got, want) {
		t.Errorf("public has %q, expected %q", got, want)
	}
	state, err := migrations.Status(within(t), url)
	if err != nil || !state.InPlace() {
		t.Errorf("status: %v, %+v, %s", err, state.Functions, state.Unchecked)
	}
	if (state.Public == sqlfuncs.All) != every {
		t.Errorf("status says that public has the names of %q", state.Public)
	}
}

func TestUpPutsTheFamilyAloneIntoPublicAndTheOthersAreReachedByTheirSchemaOrASearchPath(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	hasInPublic(t, url, false)
	plain := server.Connect(t, role(t, url, "reaches"))
	refused(t, plain, "42883", "SELECT incr('a')")
	run(t, plain, `SELECT pgflurry.incr('a'); SET search_path = "$user", public, pgflurry;
		SELECT incr('a'), uuidv7(), next_snowflake()`)
	if n := value[int64](t, plain, "SELECT get_counter('a')"); n != 2 {
		t.Errorf("the counter is %d, expected 2: one by each name", n)
	}
}

func TestTheChoiceOfNamesIsRememberedAndAllOfThemComeAndGoAtACommand(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	for _, step := range []struct {
		settings migrations.Settings
		every    bool
	}{
		{migrations.Settings{}, false},
		{all, true},
		{migrations.Settings{}, true},
		{all, true},
		{snowflake, false},
		{migrations.Settings{}, false},
		{snowflake, false},
	} {
		up(t, url, step.settings)
		hasInPublic(t, url, step.every)
	}
	up(t, url, all)
	if err := down(t, url); err != nil {
		t.Fatalf("%v (%s)", err, hintOf(err))
	}
	if left := values[string](t, server.Connect(t, url), inPublic); len(left) != 0 {
		t.Errorf("down leaves %q", left)
	}
	up(t, url, migrations.Settings{})
	hasInPublic(t, url, false)
}

func TestFewerNamesAreRefusedWhileOneIsInUseAndTheErrorSaysByWhat(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, all)
	conn := server.Connect(t, url)
	run(t, conn, `CREATE TABLE orders (id bigint DEFAULT next_segment('order'), at uuid DEFAULT pgflurry.uuidv7());
		CREATE VIEW visits AS SELECT get_counter('visits');
		CREATE INDEX ON orders (uuidv7_time(at));
		CREATE SCHEMA app; CREATE FUNCTION app.count_one() RETURNS bigint RETURN incr('one')`)
	uses := []string{
		"default value for column id of table public.orders uses public.next_segment(text)",
		"view public.visits uses public.get_counter(text)",
		"index public.orders_uuidv7_time_idx uses public.uuidv7_time(uuid)",
		"function app.count_one() uses public.incr(text)",
	}
	err := migrations.Up(within(t), url, snowflake)
	says(t, err, append(uses, "short names", "pgflurry.incr")...)
	if strings.Contains(err.Error(), "pgflurry.uuidv7()") {
		t.Errorf("the error names what uses no short name: %v", err)
	}
	hasInPublic(t, url, true)
	run(t, conn, `DROP VIEW visits; DROP INDEX orders_uuidv7_time_idx; DROP SCHEMA app CASCADE;
		ALTER TABLE orders ALTER id SET DEFAULT pgflurry.next_segment('order')`)
	up(t, url, snowflake)
	hasInPublic(t, url, false)
}

func TestAFunctionOfTheUsersOwnSurvivesTheStepToFewerNames(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, all)
	conn := server.Connect(t, url)
	run(t, conn, `CREATE OR REPLACE FUNCTION public.incr(key text) RETURNS bigint LANGUAGE sql
			AS 'SELECT pgflurry.incr($1) + 0';
		CREATE FUNCTION public.unlock(name text) RETURNS boolean RETURN pgflurry.unlock(name, 'me')`)
	up(t, url, snowflake)
	names := values[string](t, conn, inPublic)
	want := slices.Sorted(slices.Values(append([]string{"incr", "unlock"}, familyNames...)))
	if !slices.Equal(names, want) {
		t.Errorf("public has %q, expected %q", names, want)
	}
	run(t, conn, "SELECT incr('a'), unlock('a')")
	// one short name that somebody made by hand: no migration may drop it
	run(t, conn, "CREATE FUNCTION public.uuidv4() RETURNS uuid RETURN pgflurry.uuidv4()")
	for _, settings := range []migrations.Settings{{}, snowflake} {
		up(t, url, settings)
		run(t, conn, "SELECT public.uuidv4()")
	}
}

func TestACopyOfADatabaseBringsItsChoiceOfNamesAlong(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, all)
	copied := copyOf(t, url)
	up(t, copied, migrations.Settings{NewNamespace: true})
	hasInPublic(t, copied, true)
	joined := server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: url}) // another database makes a choice of its own
	hasInPublic(t, joined, false)
}

func TestADumpOfADatabaseBringsItsChoiceOfNamesAlong(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, all)
	for _, dump := range [][]string{{"--schema-only"}, nil} {
		restored := server.Database(t)
		text, err := exec.CommandContext(within(t), server.Tool(t, "pg_dump"), append(dump, url)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		load := exec.CommandContext(within(t), server.Tool(t, "psql"), "-Xqv", "ON_ERROR_STOP=1", restored)
		load.Stdin = bytes.NewReader(text)
		if out, err := load.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		up(t, restored, migrations.Settings{NewNamespace: dump == nil})
		hasInPublic(t, restored, true)
	}
}

func TestPrintMakesTheNamesThatWereAskedForAndALaterUpOrPrintKeepsThem(t *testing.T) {
	t.Parallel()
	for _, settings := range []migrations.Settings{{}, snowflake, all} {
		url := server.Database(t)
		var script bytes.Buffer
		if err := migrations.Print(&script, settings); err != nil {
			t.Fatal(err)
		}
		run(t, server.Connect(t, url), script.String())
		every := settings.Functions == sqlfuncs.All
		hasInPublic(t, url, every)
		up(t, url, migrations.Settings{})
		hasInPublic(t, url, every)
		for _, again := range []struct {
			settings migrations.Settings
			every    bool
		}{{migrations.Settings{}, every}, {all, true}, {migrations.Settings{}, true}, {snowflake, false}} {
			var script bytes.Buffer
			if err := migrations.Print(&script, again.settings); err != nil {
				t.Fatal(err)
			}
			run(t, server.Connect(t, url), script.String())
			hasInPublic(t, url, again.every)
		}
	}
}

func TestUpAndStatusSayWhichFunctionsHaveAShortName(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	for _, step := range []struct{ flag, says, status, json string }{
		{
			"snowflake", "next_snowflake() and its kin", "names in public",
			`"functions_in_public": "snowflake"`,
		},
		{"all", "short names of the functions of schema pgflurry", "all", `"functions_in_public": "all"`},
	} {
		for _, c := range []struct{ args, says []string }{
			{[]string{"namespace", "set", "--functions", step.flag}, []string{step.says, step.status}},
			{[]string{"migrate", "status"}, []string{step.status}},
			{[]string{"migrate", "status", "--json"}, []string{step.json}},
		} {
			args := append(c.args, "--database", url)
			out, err := exec.CommandContext(within(t), program.Path(t), args...).CombinedOutput()
			for _, text := range c.says {
				if err != nil || !bytes.Contains(out, []byte(text)) {
					t.Errorf("%s: %v, it does not say %q:\n%s", c.args, err, text, out)
				}
			}
		}
	}
	says(t, migrations.Up(within(t), url, migrations.Settings{Functions: "some"}), `--functions is "some"`,
		"snowflake or all")
}

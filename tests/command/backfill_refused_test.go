package command

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

func TestBackfillRefusesWhatNoIDFitsAndChangesNothing(t *testing.T) {
	t.Parallel()
	const spread = "'2025-05-05'::timestamptz + n * interval '1 s'"
	for name, test := range map[string]struct {
		created string // of the rows
		script  string
		more    []string
		code    int
		says    []string
	}{
		"no time": {"CASE WHEN n > 3 THEN now() END", "", nil, 1, []string{"3 of 10 rows", "NULL or infinite"}},
		"infinity": {
			"CASE n WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE now() END::timestamptz", "", nil, 1,
			[]string{"2 of 10 rows"},
		},
		"before the first ID": {
			"'2024-01-01 23:59:59+00'", "", nil, 1,
			[]string{"of 2024-01-01T23:59:59.000Z or earlier", "the first ID", "2024-01-02T00:00:00.000Z"},
		},
		"long before": {"'4713-01-01 BC'", "", nil, 1, []string{"the first ID"}},
		"the future": {
			"now() + interval '1 hour'", "", nil, 1,
			[]string{"which is not over", "the clock shows"},
		},
		"the end of time": {"'294276-12-31'", "", nil, 1, []string{"which is not over"}},
		"no such table": {
			spread, "ALTER TABLE item RENAME TO thing", nil, 2,
			[]string{"there is no table item"},
		},
		"a view": {
			spread, "ALTER TABLE item RENAME TO thing; CREATE VIEW item AS SELECT * FROM thing", nil, 2,
			[]string{"is no table"},
		},
		"no such column": {spread, "", []string{"--id", "key"}, 2, []string{`has no column "key"`}},
		"an integer": {
			spread, "ALTER TABLE item ALTER new_id TYPE integer", nil, 2,
			[]string{"is integer; expected bigint"},
		},
		"no zone": {
			spread, "ALTER TABLE item ALTER created_at TYPE timestamp", nil, 2,
			[]string{"says no instant", "--time-zone UTC"},
		},
		"a zone too many": {spread, "", []string{"--time-zone", "UTC"}, 2, []string{"needs no zone"}},
		"a zone unknown": {
			spread, "ALTER TABLE item ALTER created_at TYPE timestamp",
			[]string{"--time-zone", "Mars"},
			2,
			[]string{`knows no time zone "Mars"`, "Europe/Berlin"},
		},
		"a zone of POSIX, which counts to the west": {
			spread, "ALTER TABLE item ALTER created_at TYPE timestamp",
			[]string{"--time-zone", "UTC+3"},
			2,
			[]string{`knows no time zone "UTC+3"`},
		},
		"a text": {
			spread, "ALTER TABLE item ALTER created_at TYPE text", nil, 2,
			[]string{"expected a timestamp"},
		},
		"another generator": {
			spread, "",
			[]string{"--after-id", "500000000000000000"},
			1,
			[]string{"would not be above 500000000000000000"},
		},
		"no ID":             {spread, "", []string{"--after-id", "-5"}, 2, []string{"-5 is negative"}},
		"a closed database": {spread, "CALL pgflurry.close_database()", nil, 1, []string{"closed for good"}},
		"a row older than the ID space, for which nobody vouches": {
			spread, "",
			[]string{"--nothing-lost=false"},
			1,
			[]string{"may lack leases from before", "this ID space was made", "add --nothing-lost"},
		},
		"a trigger that leaves rows out": {
			spread, `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN IF NEW.n = 5 THEN RETURN NULL; END IF; RETURN NEW; END $$;
				CREATE TRIGGER skip BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION skip()`, nil, 1,
			[]string{"9 of 10 rows", "triggers"},
		},
		"a copy": {spread, "UPDATE pgflurry.namespace SET database_oid = 1", nil, 3, []string{"is a copy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.Migrated(t)
			conn := server.Connect(t, url)
			rows(t, conn, 10, test.created)
			server.Do(t, conn, test.script)
			backfilled(t, url, test.more...).is(t, test.code, test.says...)
			if name == "no such table" {
				return
			}
			if n := server.Value[int](t, conn, "SELECT count(new_id) FROM item"); n != 0 {
				t.Errorf("%d rows have IDs", n)
			}
		})
	}
}

func TestBackfillWaitsForATimeThatIsOver(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	run(t, "migrate", "up", "--database", url, "--layout", "41/0/10/1").is(t, 0) // two IDs in a tick
	conn := server.Connect(t, url)
	rows(t, conn, 200_000, "now()")
	backfilled(t, url).is(t, 1, "more rows are of one time than a worker has IDs for", "Run it again in 1m")
	server.Do(t, conn, "UPDATE item SET created_at = created_at - interval '2 minutes'")
	backfilled(t, url).is(t, 0)
}

func TestABackfillGivesNoIDOfTheTimeInWhichAnotherGeneratorGaveIDs(t *testing.T) {
	t.Parallel()
	const ofJune = 44_668_800_000 << 22 // 2025-06-01 in the default layout
	url := server.Database(t)
	run(t, "migrate", "up", "--database", url, "--after-id", fmt.Sprint(ofJune)).is(t, 0)
	conn := server.Connect(t, url)
	rows(t, conn, 10, "'2025-05-05'::timestamptz + n * interval '1 s'")
	backfilled(t, url).is(t, 1, "each free worker was used until 2025-06-01T00:00:00.001Z")
	server.Do(t, conn, "UPDATE item SET created_at = created_at + interval '1 month'")
	backfilled(t, url).is(t, 0)
	if !server.Value[bool](t, conn, "SELECT min(new_id) > $1 AND next_snowflake() > $1 FROM item", int64(ofJune)) {
		t.Error("an ID is not above that of the other generator")
	}
}

func TestWhatDownSaysOfItsIDsKeepsABackfillOfALaterInstallationFromThem(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	rows(t, conn, 10, "clock_timestamp()") // pgflurry's proxies may have given IDs at these times
	id := server.Value[int64](t, conn, "SELECT next_snowflake()")
	removed := run(t, "migrate", "down", "--database", url, "--wait")
	removed.is(t, 0)
	said := regexp.MustCompile(`--after-id ([0-9]+)`).FindStringSubmatch(removed.out)
	if said == nil {
		t.Fatalf("migrate down does not say how far the IDs reach: %s", removed.out)
	}
	if last, err := strconv.ParseInt(said[1], 10, 64); err != nil || last < id {
		t.Errorf("migrate down says %s, and %d was given", said[1], id)
	}
	run(t, "migrate", "up", "--database", url, "--after-id", said[1]).is(t, 0)
	backfilled(t, url).is(t, 1, "each free worker was used until")
}

func TestBackfillNeedsTheRightsThatItsHelpNames(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	rows(t, conn, 10, "'2025-05-05'::timestamptz + n * interval '1 s'")
	as := server.Role(t, url, "backfiller")
	backfilled(t, as).is(t, 1, "permission denied")
	server.Do(t, conn, "CALL pgflurry.grant_lease('backfiller')")
	backfilled(t, as).is(t, 1, "permission denied for table item")
	server.Do(t, conn, "GRANT SELECT, UPDATE ON item TO backfiller")
	server.Do(t, conn, "ALTER TABLE item ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON item USING (n > 5)")
	backfilled(t, as).is(t, 1, "row-level security")
	server.Do(t, conn, "ALTER TABLE item DISABLE ROW LEVEL SECURITY")
	backfilled(t, as).is(t, 0)
	if n := server.Value[int](t, conn, "SELECT count(DISTINCT new_id) FROM item"); n != 10 {
		t.Errorf("%d rows of 10 have IDs", n)
	}
}

func TestAHostileSearchPathAndSettingsOfTheRoleChangeNoIDOfABackfill(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	rows(t, conn, 5000, "'2025-05-05 05:05:05+00'::timestamptz")
	database := fmt.Sprintf("ALTER DATABASE %q SET ", server.Name(t, url))
	server.Do(t, conn, database+"default_transaction_isolation = serializable")
	server.Do(t, conn, database+"default_transaction_read_only = on")
	for _, path := range server.Hostile(t, conn) {
		server.Do(t, conn, "UPDATE item SET new_id = NULL")
		server.Do(t, conn, database+"search_path = "+path)
		run(t, "backfill", "public.item", "--id", "new_id", "--time", "created_at", "--order", "n", "--nothing-lost",
			"--database", url).is(t, 0)
		const state = `SELECT format('%s %s', count(DISTINCT new_id), max(snowflake_time(new_id)) - min(created_at))
			FROM item`
		if got := server.Value[string](t, conn, state); got != "5000 00:00:00.001" {
			t.Errorf("search_path %s: %s", path, got)
		}
	}
}

// backfillPage is the page about IDs for rows that exist already.
const backfillPage = "../../docs/backfill.md"

func TestTheStepsOfThePageAboutBackfillsRun(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(backfillPage)
	if err != nil {
		t.Fatal(err)
	}
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	commands, statements := 0, 0
	blocks := regexp.MustCompile("(?ms)^ *```(sql)?\n(.*?)^ *```$")
	for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "" {
			commands++
			run(t, strings.Fields(strings.ReplaceAll(block[2], "URL", url))[1:]...).is(t, 0)
			continue
		}
		for _, statement := range strings.SplitAfter(block[2], ";\n") {
			if strings.TrimSpace(statement) != "" {
				statements++
				server.Do(t, conn, statement)
			}
		}
		if statements == 2 { // the two tables: the oldest post has not the lowest key
			server.Do(t, conn, `INSERT INTO post (created_at, body)
				SELECT '2025-05-05'::timestamptz + (n * 7 % 100) * interval '1 s', 'post ' || n
				FROM generate_series(1, 300) AS n`)
			server.Do(t, conn, "INSERT INTO comment (post_id, body) SELECT id, 'on ' || body FROM post")
		}
	}
	server.Do(t, conn, "INSERT INTO post (body) VALUES ('a new one')")
	const state = `SELECT format('%s posts, %s times, %s in order, %s comments', count(*),
			count(*) FILTER (WHERE p.created_at - snowflake_time(p.id) BETWEEN '-5 s' AND '1 ms'),
			count(*) FILTER (WHERE p.number = p.due),
			(SELECT count(*) FROM comment JOIN post ON post.id = post_id WHERE comment.body = 'on ' || post.body))
		FROM (SELECT *, row_number() OVER (ORDER BY id) AS number,
			row_number() OVER (ORDER BY created_at, old_id) AS due FROM post) AS p`
	if got := server.Value[string](t, conn, state); got != "302 posts, 302 times, 302 in order, 300 comments" {
		t.Errorf("after the steps: %s", got)
	}
	if commands != 2 || statements < 15 {
		t.Errorf("the page has %d commands and %d statements", commands, statements)
	}
}

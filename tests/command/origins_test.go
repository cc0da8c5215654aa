//go:build full

package command

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/tests/support/server"
)

// origins is the page about generators that a database had before.
const origins = "../../docs/from-another-generator.md"

// known is a row of the page with an ID that its source, or its bits, say all of.
type known struct{ generator, id, time, worker, sequence string }

// originsPage reads the flags of each generator, and the known IDs.
func originsPage(t *testing.T) (flags map[string][]string, ids []known) {
	t.Helper()
	text, err := os.ReadFile(origins)
	if err != nil {
		t.Fatal(err)
	}
	flags = map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| \\[([^]]+)\\][^|]*\\| `(--layout [^`]*)` \\|")
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		flags[found[1]] = strings.Fields(found[2])
	}
	id := regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d+) \| (\S+Z) \| (\d+) \| (\d+) \|$`)
	for _, found := range id.FindAllStringSubmatch(string(text), -1) {
		ids = append(ids, known{found[1], found[2], found[3], found[4], found[5]})
	}
	if len(flags) < 8 || len(ids) < 9 {
		t.Fatalf("the page has flags of %d generators and %d IDs", len(flags), len(ids))
	}
	return flags, ids
}

func TestEveryOriginOfThePageIsMigratedAndItsIDsAreRead(t *testing.T) {
	t.Parallel()
	flags, ids := originsPage(t)
	for i, k := range ids {
		t.Run(fmt.Sprint(i, " ", k.generator), func(t *testing.T) {
			t.Parallel()
			if flags[k.generator] == nil {
				t.Fatalf("the table of generators has no flags of %s", k.generator)
			}
			url := server.Database(t)
			up := append([]string{"migrate", "up", "--database", url, "--after-id", k.id}, flags[k.generator]...)
			run(t, append(up, "--foreign-workers", "0-3")...).is(t, 0)
			conn := server.Connect(t, url)
			const read = `SELECT format('%s %s %s', to_char(snowflake_time($1) AT TIME ZONE 'UTC',
				'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), snowflake_worker($1), snowflake_sequence($1))`
			want := k.time + " " + k.worker + " " + k.sequence
			if got := server.Value[string](t, conn, strings.ReplaceAll(read, "$1", k.id)); got != want {
				t.Errorf("%s is read as %s, expected %s", k.id, got, want)
			}
			decoded := run(t, append([]string{"decode", k.id}, flags[k.generator]...)...)
			decoded.is(t, 0)
			for _, part := range []string{k.time, k.worker, k.sequence} {
				if !strings.Contains(decoded.out, part) {
					t.Errorf("decode does not print %s:\n%s", part, decoded.out)
				}
			}
			const next = "SELECT snowflake_worker(n) = 4 AND n > %s FROM next_snowflake() AS n"
			if !server.Value[bool](t, conn, fmt.Sprintf(next, k.id)) {
				t.Error("the first new ID is not above, or has another worker than the first that is not foreign")
			}
		})
	}
}

func TestTheStepsOfThePageAboutOriginsRun(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	server.Exec(t, url, "CREATE TABLE item (id bigint); INSERT INTO item VALUES (2068000000000000000)")
	text, err := os.ReadFile(origins)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, block := range regexp.MustCompile("(?ms)^ *```\n(.*?)^ *```$").FindAllStringSubmatch(string(text), -1) {
		line := strings.TrimSpace(strings.ReplaceAll(block[1], "\\\n", " "))
		if !strings.HasPrefix(line, "pgflurry ") {
			continue
		}
		commands++
		run(t, strings.Fields(strings.ReplaceAll(line, "URL", url))[1:]...).is(t, 0)
	}
	if commands != 1 {
		t.Errorf("the page has %d commands, expected 1", commands)
	}
}

func TestUpRefusesALayoutByWhichTheFirstIDIsNotAbove(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	up := func(more ...string) ended {
		return run(t, append([]string{"migrate", "up", "--database", url}, more...)...)
	}
	up("--after-id", tweet).is(t, 2, "the first ID would not be above "+tweet, "2035-08-25T14:24:45", "41/0/10/12",
		"--epoch 20", "docs/from-another-generator.md")
	up("--after-id", "9000000000000000000").is(t, 2, "not be above", "No epoch")
	up("--after-id", tweet, "--layout", "javascript").is(t, 2, "above every ID of layout 41/0/6/6")
	up("--after-id", "-1").is(t, 2, "no ID is negative")
	up("--foreign-workers", "0-1023").is(t, 2, "without the foreign workers 0 to 1023", "has 0 workers")
	up("--foreign-workers", "5-3").is(t, 2, "--foreign-workers", "5-3")
	up("--foreign-workers", "1024").is(t, 2, "workers 1024", "has workers 0 to 1023")
	advised := regexp.MustCompile(`--epoch (\S+),`).FindStringSubmatch(up("--after-id", tweet).errs)
	if advised == nil {
		t.Fatal("no epoch is advised")
	}
	up("--after-id", tweet, "--epoch", advised[1]).is(t, 0)
	up("--after-id", tweet).is(t, 2, "belongs to namespace")
	if !server.Value[bool](t, server.Connect(t, url), "SELECT next_snowflake() > "+tweet) {
		t.Error("the first ID is not above")
	}
	const marks = "SELECT min(reserved_until) > %s >> 22 FROM pgflurry.worker WHERE kind = 'proxy'"
	if !server.Value[bool](t, server.Connect(t, url), fmt.Sprintf(marks, tweet)) {
		t.Error("a proxy begins below if the clock is set back")
	}
}

func TestForeignWorkersAreShownToPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	run(t, "migrate", "up", "--database", url, "--foreign-workers", "0-31,991").is(t, 0)
	shown := func(want string, args ...string) {
		t.Helper()
		e := run(t, append(args, "--database", url)...)
		e.is(t, 0)
		if out := strings.Join(strings.Fields(e.out), " "); !strings.Contains(out, want) {
			t.Errorf("%q prints no %q:\n%s", args, want, e.out)
		}
	}
	shown("foreign workers 33 0 to 31, 991: a generator of another kind", "migrate", "status")
	shown("workers 1024 32 to 47 for database functions, worker 32 for this one", "migrate", "status")
	shown("lastval() not the ID", "migrate", "status")
	shown(`"foreign_workers": [ { "from": 0, "to": 31 }, { "from": 991, "to": 991 } ]`, "migrate", "status", "--json")
	shown("foreign 0 to 31, 991", "namespace", "show")
	shown("of proxies 48 to 990, 992 to 1023", "namespace", "show")
	shown("foreign workers: 0 to 31, 991;", "workers", "list")
	shown(`{ "worker": 991, "kind": "foreign", "state": "foreign",`, "workers", "list", "--json")
	run(t, "workers", "retire", "5", "--database", url).is(t, 1, "worker 5 is foreign")
	run(t, "migrate", "up", "--database", url).is(t, 0)
	shown("foreign workers 33", "migrate", "status")
}

// The page measures PgDog's epoch, by an ID to which PgDog has added its minimum.
func TestAMinimumThatMovesTheTimeAloneIsReadWithTheEpochThatOneMeasures(t *testing.T) {
	t.Parallel()
	for name, minimum := range map[string]int64{"twitter": 3 * 4194304, "javascript": 5 * 4096} {
		layout, err := generator.ParseLayout(name)
		if err != nil {
			t.Fatal(err)
		}
		layout.Epoch = time.Date(2025, time.November, 26, 0, 0, 0, 0, time.UTC)
		at := layout.Time(123_456_789)
		id, err := layout.Compose(123_456_789, 2, 5)
		if err != nil {
			t.Fatal(err)
		}
		id += minimum
		layout.Epoch = at.Add(-time.Duration(id>>(layout.WorkerBits+layout.SequenceBits)) * time.Millisecond)
		parts, err := layout.Decode(id)
		if err != nil || !parts.Time.Equal(at) || parts.Worker != 2 || parts.Sequence != 5 {
			t.Errorf("%s: %+v, %v; expected %v, worker 2, sequence 5", name, parts, err, at)
		}
	}
}

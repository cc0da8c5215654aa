//go:build full

package clients

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

//go:embed authors.sql
var authorsSQL string

const (
	jsonPage = "../../docs/json.md"
	anID     = "330678927360028673" // of the only author, and of the only book
	jackson  = "/usr/share/java/jackson-databind.jar:/usr/share/java/jackson-core.jar:" +
		"/usr/share/java/jackson-annotations.jar:" + jars
)

// made is the value that a driver made of the ID.
type made struct{ Type, Text string }

// fate is what happens to an ID in a driver: see node/ids_in_json_report.js.
type fate struct {
	Driver, Version  string
	Bigint, Document *made
	Row              *string
}

// jsonProgram reports the fate of an ID in one driver or more.
type jsonProgram struct {
	command     []string
	build       []string
	environment string
	first       bool // the first group of packages suffices
}

var jsonPrograms = []jsonProgram{
	{command: []string{"node", "{source}", "node/ids_in_json.js"}, first: true},
	{
		build: []string{"node", "../frameworks/node/prisma/cli.js", "generate"},
		command: []string{
			"node", "--import", "../frameworks/node/node_modules/tsx/dist/loader.mjs",
			"../frameworks/node/ids_in_json.ts",
		},
		environment: "TSX_TSCONFIG_PATH=../frameworks/node/typeorm/tsconfig.json",
	},
	{command: []string{python, "python/ids_in_json.py", "psycopg", "psycopg2"}, first: true},
	{command: []string{python, "python/ids_in_json.py", "asyncpg"}},
	{
		build:   []string{"javac", "-Xlint:all", "-cp", jackson, "-d", "{out}", "jdbc/IdsInJson.java"},
		command: []string{"java", "-XX:TieredStopAtLevel=1", "-cp", jackson + ":{out}", "IdsInJson"},
	},
	{command: []string{"php", "php/ids_in_json.php"}},
	{command: []string{"ruby", "ruby/ids_in_json.rb"}},
	{command: []string{"perl", "perl/ids_in_json.pl"}},
	{command: []string{"bash", "psql/ids_in_json"}},
}

// sourceFlag returns the flag with which JSON.parse passes the text of a value to a reviver. Node needs none from
// version 21 on.
func sourceFlag(t *testing.T) string {
	t.Helper()
	const probe = "JSON.parse('1', (key, value, context) => context === undefined)"
	out, err := exec.Command("node", "-p", probe).Output()
	if err != nil {
		t.Fatalf("node does not run: %v", err)
	}
	if strings.TrimSpace(string(out)) == "true" {
		return "--harmony-json-parse-with-source"
	}
	return "--no-warnings" // this Node needs none; a flag must stand here
}

// run runs the program and returns the fates that it reports.
func (p jsonProgram) run(t *testing.T, out, url string) (all []fate) {
	t.Helper()
	source := sourceFlag(t)
	for _, words := range [][]string{p.build, p.command} {
		if words == nil {
			continue
		}
		var filled []string
		for _, word := range words {
			filled = append(filled, strings.NewReplacer("{out}", out, "{source}", source).Replace(word))
		}
		command := exec.CommandContext(server.Within(t), filled[0], filled[1:]...)
		command.Env = slices.Concat(os.Environ(), server.Environment(t, url), []string{p.environment})
		var complaints bytes.Buffer
		command.Stderr = &complaints
		said, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v (tests/clients/install and tests/frameworks/install get what it needs)\n%s%s",
				strings.Join(filled, " "), err, said, complaints.Bytes())
		}
		for decoder := json.NewDecoder(bytes.NewReader(said)); decoder.More() && !slices.Equal(words, p.build); {
			var f fate
			if err := decoder.Decode(&f); err != nil {
				t.Fatalf("%v in\n%s", err, said)
			}
			all = append(all, f)
		}
	}
	return all
}

// fatesInGo returns those of pgx and encoding/json.
func fatesInGo(t *testing.T, url string) []fate {
	t.Helper()
	conn := server.Connect(t, url)
	const document, quoted = "SELECT to_jsonb(author) FROM author",
		"SELECT to_jsonb(author) || jsonb_build_object('id', id::text) FROM author"
	// snippet: go
	type Author struct {
		ID int64 `json:"id,string"` // {"id":"330678927360028673"}
	}
	// snippet: end
	type plain struct {
		ID int64 `json:"id"`
	}
	id := server.Value[int64](t, conn, "SELECT id FROM author")
	loose := server.Value[map[string]any](t, conn, document)["id"]
	in := func(driver string, row any, kind, text string) fate {
		written, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		as := string(written)
		return fate{driver, "", &made{"int64", fmt.Sprint(id)}, &made{kind, text}, &as}
	}
	return []fate{
		in("pgx, `map[string]any`", map[string]any{"id": id}, fmt.Sprintf("%T", loose), fmt.Sprintf("%.0f", loose)),
		in("pgx, an int64", plain{id}, "int64", fmt.Sprint(server.Value[plain](t, conn, document).ID)),
		in("pgx, with the tag below", Author{id}, "int64", fmt.Sprint(server.Value[Author](t, conn, quoted).ID)),
	}
}

// cells returns the row of the page's table.
func (f fate) cells() []string {
	show := func(m *made) string {
		switch {
		case m == nil:
			return "–"
		case m.Text == anID:
			return m.Type
		}
		return fmt.Sprintf("%s **%s**", m.Type, m.Text)
	}
	row := "–"
	if f.Row != nil {
		row = "`" + *f.Row + "`"
	}
	return []string{f.Driver, f.Version, show(f.Bigint), row, show(f.Document)}
}

const jsonHead = "| driver | version | a `bigint` | its row, encoded as JSON | the ID in `to_jsonb(row)` |\n" +
	"|---|---|---|---|---|\n"

func TestWhatDriversMakeOfAnIDIsWhatThePageSays(t *testing.T) {
	t.Parallel()
	deeds.Wanted(t)
	url := server.Migrated(t)
	server.Exec(t, url, authorsSQL)
	seen := fatesInGo(t, url)
	for _, p := range jsonPrograms {
		if p.first || deeds.All() {
			seen = append(seen, p.run(t, t.TempDir(), url)...)
		}
	}
	page := read(t, jsonPage)
	before, rest, found := strings.Cut(page, jsonHead)
	table, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("docs/json.md has no table with the head\n%s", jsonHead)
	}
	if *update && deeds.All() {
		var lines []string
		for _, f := range seen {
			lines = append(lines, deeds.Row(f.cells()))
		}
		table = strings.Join(lines, "\n")
		if err := os.WriteFile(jsonPage, []byte(before+jsonHead+table+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := make(map[string][]string)
	for line := range strings.Lines(table + "\n") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |\n"), " | ")
		said[cells[0]] = cells
	}
	for _, f := range seen {
		now, was := f.cells(), said[f.Driver]
		if len(was) == len(now) {
			now[1] = was[1] // versions may differ
		}
		if !slices.Equal(now, was) {
			t.Errorf("docs/json.md says of %s\n%q\nnow it is\n%q\n%s", f.Driver, was, now, again)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

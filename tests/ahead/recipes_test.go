//go:build full

package ahead

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// recipe is a program that runs a recipe.
type recipe struct {
	name     string
	make     func(t *testing.T, out string) // builds what the command needs into folder out
	command  []string                       // {out} is that folder
	deeds    []string
	packages string
}

const jars = "/usr/share/java/postgresql.jar:/usr/share/java/HikariCP.jar:/usr/share/java/slf4j-api.jar"

var recipes = []recipe{
	{
		name:    "Python",
		make:    func(*testing.T, string) {},
		command: []string{"/usr/bin/python3", "python/ahead.py"}, // Debian's, which has Debian's modules
		deeds: []string{
			"parallel", "restarted", "fresh", "bulk", "broken", "ids", "parameter", "inserted", "forked", "forked-in-c",
		},
		packages: "python3-psycopg",
	},
	{
		name:     "TypeScript",
		make:     compileTypeScript,
		command:  []string{"node", "{out}/tests/ahead/node/ahead.js"},
		deeds:    []string{"parallel", "restarted", "lost", "fresh", "bulk", "broken", "ids", "parameter", "inserted"},
		packages: "nodejs, npm ci in tests/ahead/node",
	},
	{
		name:    "Java",
		make:    compileJava,
		command: []string{"java", "-XX:TieredStopAtLevel=1", "-cp", jars + ":{out}", "Ahead"},
		deeds: []string{
			"parallel", "restarted", "fresh", "bulk", "broken", "ids", "parameter", "inserted", "hibernate",
		},
		packages: "default-jdk-headless libpostgresql-jdbc-java libhikaricp-java",
	},
}

func compileTypeScript(t *testing.T, out string) {
	run(t, "node/node_modules/.bin/tsc", "-p", "node", "--outDir", out)
	modules, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "node_modules"} {
		if err := os.Symlink(filepath.Join(modules, name), filepath.Join(out, "tests/ahead/node", name)); err != nil {
			t.Fatal(err)
		}
	}
}

func compileJava(t *testing.T, out string) {
	arguments := []string{"-Xlint:all", "-Werror", "-cp", jars, "-d", out, "java/Ahead.java"}
	err := filepath.WalkDir("java/stubs", func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			arguments = append(arguments, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, "javac", append(arguments, "../../docs/recipes/java/Snowflakes.java",
		"../../docs/recipes/hibernate/SnowflakeGenerator.java")...)
}

func run(t *testing.T, command string, arguments ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), command, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v; tests/clients/install first gets what is needed\n%s", command, err, out)
	}
}

func TestEachRecipeDrawsInBatchesAndGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	deeds.Wanted(t)
	all, s := t, serve(t)
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			out := t.TempDir()
			r.make(t, out)
			p := begin(t, s, r, out)
			for _, deed := range r.deeds {
				if deed == "restarted" {
					s.replace(all) // the proxies outlive this recipe's subtest
				}
				before := s.drawn(t)
				p.say(t)
				l := p.line(t)
				if l.Deed != deed {
					t.Fatalf("the program did %q; expected %q", l.Deed, deed)
				}
				t.Run(deed, func(t *testing.T) { s.judge(t, l, before) })
			}
			if err := p.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// line is what a program prints about one deed.
type line struct {
	Deed, Error string
	IDs         []string
}

// judge compares a deed with the IDs that it should have given, and with the number of statements that it may take.
func (s *served) judge(t *testing.T, l line, before int) {
	t.Helper()
	expected := map[string]struct{ ids, least, most int }{
		// more statements: on a machine that stalls, a batch may get too old before it is used
		"parallel":    {40_000, 400, 500},
		"hibernate":   {40_000, 400, 500},
		"restarted":   {250, 2, 8},
		"lost":        {1, 1, 1},
		"fresh":       {5, 5, 5},
		"bulk":        {25_000, 3, 3},
		"broken":      {0, 0, 0},
		"inserted":    {2, 0, 1},
		"parameter":   {3, 0, 0},
		"ids":         {1_000, 10, 15},
		"forked":      {300, 3, 10},
		"forked-in-c": {300, 3, 10},
	}[l.Deed]
	statements := s.drawn(t) - before
	if len(l.IDs) != expected.ids || statements < expected.least || statements > expected.most {
		t.Errorf("%d IDs in %d statements; expected %+v", len(l.IDs), statements, expected)
	}
	if (l.Error != "") != (l.Deed == "broken") {
		t.Errorf("the error is %q", l.Error)
	}
	for _, text := range l.IDs {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if l.Deed == "parameter" { // the function gives these: docs/in-your-program.md
			if worker(id) != databaseWorker {
				t.Errorf("ID %d is the proxy's; expected one of the function", id)
			}
			continue
		}
		s.record(t, id)
	}
}

// running is a program that waits for its next deed.
type running struct {
	cmd   *exec.Cmd
	lines *json.Decoder
	input io.Writer
}

func begin(t *testing.T, s *served, r recipe, out string) *running {
	t.Helper()
	var command []string
	for _, word := range r.command {
		command = append(command, strings.ReplaceAll(word, "{out}", out))
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = slices.Concat(os.Environ(), server.Environment(t, s.URL), []string{
		"AWAY_PORT=" + strconv.Itoa(server.FreePort(t)), "ID_DATABASE=" + idDatabase, "PYTHONDONTWRITEBYTECODE=1",
	})
	cmd.Stderr = t.Output()
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; tests/clients/install first gets what is needed (%s)", err, r.packages)
	}
	return &running{cmd, json.NewDecoder(bufio.NewReader(output)), input}
}

// say starts the program's next deed.
func (p *running) say(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.input, "\n"); err != nil {
		t.Fatal(err)
	}
}

func (p *running) line(t *testing.T) (l line) {
	t.Helper()
	if err := p.lines.Decode(&l); err != nil {
		t.Fatalf("no line of a deed: %v", err)
	}
	return l
}

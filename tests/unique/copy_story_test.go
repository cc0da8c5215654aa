package unique

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// A story is one thing that happens to databases, and every ID that is drawn meanwhile.
type story struct {
	*testing.T
	commands []string // of the row
	run      []bool   // which of them were run
	ids      *recorder.Recorder
	highest  int64
}

func newStory(t *testing.T, commands []string) *story {
	return &story{T: t, commands: commands, run: make([]bool, len(commands)), ids: recorder.New("", 0)}
}

// draw takes IDs from the function of each database in a new session, and compares them with all before.
func (s *story) draw(urls ...string) {
	s.Helper()
	for _, url := range urls {
		conn := server.Connect(s, url)
		ids := server.Values[int64](s, conn, "SELECT next_snowflake() FROM generate_series(1, 5000)")
		conn.Close(server.Within(s))
		if err := s.ids.Add(ids...); err != nil {
			s.Fatalf("%s: %v", url, err)
		}
		s.highest = max(s.highest, ids[len(ids)-1])
	}
}

// refuses wants SNF03 from the very first call, with these texts in message or hint.
func (s *story) refuses(url string, texts ...string) {
	s.Helper()
	said := server.Refused(s, server.Connect(s, url), "SNF03", "SELECT next_snowflake()")
	for _, text := range texts {
		if !strings.Contains(said.Message+"\n"+said.Hint, text) {
			s.Errorf("the refusal does not say %q:\n%s\n%s", text, said.Message, said.Hint)
		}
	}
}

// refusesUp wants migrate up to refuse until the operator has said what the database is, and to name these commands.
func (s *story) refusesUp(url string, settings migrations.Settings, texts ...string) {
	s.Helper()
	server.Says(s, migrations.Up(server.Within(s), url, settings), texts...)
}

// command runs a command of the row as it stands there, with words such as URL replaced.
func (s *story) command(number int, words ...string) {
	s.Helper()
	s.run[number] = true
	text := strings.NewReplacer(words...).Replace(s.commands[number])
	if strings.HasPrefix(text, "CALL ") {
		server.Exec(s, words[1], text)
		return
	}
	s.shell(text)
}

// shell runs a line with pgflurry and the programs of PostgreSQL at hand.
func (s *story) shell(line string) {
	s.Helper()
	binary := program.Path(s) // built here, so that the build does not use up the time
	command := exec.CommandContext(server.Within(s), "bash", "-euo", "pipefail", "-c", line)
	command.Env = append(os.Environ(),
		"PATH="+filepath.Dir(binary)+":"+filepath.Dir(server.Tool(s, "psql"))+":"+os.Getenv("PATH"))
	if out, err := command.CombinedOutput(); err != nil {
		s.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// migrated is a new database with a namespace, from which some IDs were drawn.
func (s *story) migrated(settings migrations.Settings) string {
	s.Helper()
	url := server.MigratedWith(s, settings)
	s.draw(url)
	return url
}

// up migrates a database.
func (s *story) up(url string, settings migrations.Settings) {
	s.Helper()
	if err := migrations.Up(server.Within(s), url, settings); err != nil {
		s.Fatalf("up: %v (%s)", err, server.Hint(err))
	}
}

// database makes a database on a server of the test's own.
func (s *story) database(admin, name string) string {
	s.Helper()
	server.Exec(s, admin, "CREATE DATABASE "+name)
	return server.In(s, admin, name)
}

// dump writes a dump of a database, in the custom format unless flags say otherwise, and returns its file.
func (s *story) dump(url string, flags ...string) string {
	s.Helper()
	file := filepath.Join(s.TempDir(), "dump")
	s.tool("pg_dump", append(flags, "--format=custom", "--file", file, url)...)
	return file
}

// restore runs pg_restore into a database.
func (s *story) restore(url, file string, flags ...string) {
	s.Helper()
	s.tool("pg_restore", append(flags, "--dbname", url, file)...)
}

func (s *story) tool(name string, args ...string) {
	s.Helper()
	command := exec.CommandContext(server.Within(s), server.Tool(s, name), args...)
	out, err := command.CombinedOutput()
	if ended := new(exec.ExitError); errors.As(err, &ended) && name == "pg_restore" &&
		strings.Contains(string(out), "errors ignored on restore") {
		return // rows that are there already
	}
	if err != nil {
		s.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// worker is the worker of the function of a database.
func (s *story) worker(url string) int {
	s.Helper()
	return server.Value[int](s, server.Connect(s, url), "SELECT function_worker FROM pgflurry.namespace")
}

// drawsAbove draws, and wants the first ID to be above all before. The function waits until its clock has caught up.
func (s *story) drawsAbove(url string) {
	s.Helper()
	before := s.highest
	first := server.Value[int64](s, server.Connect(s, url), "SELECT next_snowflake()")
	if first <= before {
		s.Errorf("ID %d follows %d", first, before)
	}
	if err := s.ids.Add(first); err != nil {
		s.Fatal(err)
	}
	s.draw(url)
}

// sqlstate is the code of PostgreSQL's error; "": it is none.
func sqlstate(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

// kept stops a server in order, keeps a copy of its files, and starts it again at its address. Such a copy has the
// unlogged sequences of the function, too.
func (s *story) kept(cluster *postgres.Cluster) (again *postgres.Cluster, snapshot string) {
	s.Helper()
	server.Stop(s, cluster)
	snapshot = cluster.Data + "-snapshot"
	out, err := exec.CommandContext(server.Within(s), "cp", "-a", cluster.Data, snapshot).CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return server.Again(s, cluster.Data, cluster.Port), snapshot
}

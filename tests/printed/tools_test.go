//go:build full

package printed

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// A tool runs a printed file as a migration of its own. The script of the same name in folder tools starts it.
type tool struct {
	name   string
	splits bool   // it splits at semicolons, so it needs the escaped form
	build  string // folder of its program in module tools/go; "": installed
}

var tools = []tool{
	{name: "psql"},
	{name: "sqitch"},
	{name: "yoyo"},
	{name: "dbmate"},
	{name: "node-pg-migrate"},
	{name: "golang-migrate", build: "golang-migrate"},
	{name: "goose", splits: true, build: "goose"},
	{name: "goose-unsplit", build: "goose"},
	{name: "liquibase", splits: true},
	{name: "liquibase-unsplit"},
}

func TestWhatIsPrintedIsTheFirstMigrationOfAnyTool(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	for _, tool := range tools {
		t.Run(tool.name, func(t *testing.T) {
			if tool.name != "psql" && !deeds.All() {
				t.Skip("PGFLURRY_TEST_CLIENTS is not all: make test-clients installs the tools and runs them")
			}
			if tool.build != "" {
				out, err := exec.CommandContext(server.Within(t), "go", "-C", "tools/go", "build", "-o", programs,
					"./"+tool.build).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			for name, form := range forms {
				t.Run(name, func(t *testing.T) { tool.take(t, name, form, programs) })
			}
		})
	}
}

// take runs the tool in an empty database.
func (tool tool) take(t *testing.T, name string, form form, programs string) {
	url := server.Database(t)
	out, err := tool.run(t, url, form.text(t, migrations.Settings{}), programs)
	if tool.splits && name == "plain" {
		if state, _ := migrations.Status(server.Within(t), url); state.InPlace() {
			t.Errorf("%s takes the plain form by now; docs/test-databases.md says that it does not", tool.name)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	isWhole(t, url)
}

// run passes a printed text to the tool.
func (tool tool) run(t *testing.T, url, text, programs string) ([]byte, error) {
	script, err := filepath.Abs(filepath.Join("tools", tool.name+".sh"))
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(filepath.Dir(script), "node", "node_modules")
	file := filepath.Join(t.TempDir(), "pgflurry.sql")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(server.Within(t), "bash", "-euo", "pipefail", script)
	command.Dir = t.TempDir()
	at := server.Parse(t, url)
	command.Env = slices.Concat(os.Environ(), server.Environment(t, url), []string{
		"PRINTED=" + file, "NODE=" + node, "GO=" + programs,
		"DATABASE_URL=postgres://" + at.User.Username() + "@" + at.Host + at.Path + "?sslmode=disable",
	})
	return command.CombinedOutput()
}

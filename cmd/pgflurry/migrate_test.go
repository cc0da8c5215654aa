package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/migrations"
	"pgflurry/namespace"
)

// migrate runs the command with these arguments and returns what it wrote.
func migrate(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"migrate"}, arguments...))
	root.SetOut(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestMigratePrintWritesTheLayoutThatWasAskedFor(t *testing.T) {
	t.Setenv("PGFLURRY_EPOCH", "2025-06-01T00:00:00Z")
	out, err := migrate(t, "print", "--layout", "javascript", "--unit", "10ms", "--database-workers", "3")
	want := "CALL pgflurry.create_namespace(NULL, 41, 0, 6, 6, '2025-06-01T00:00:00Z', '10 ms', 3, 0, NULL);"
	if err != nil || !strings.Contains(out, want) {
		t.Errorf("%v; the script does not hold %s", err, want)
	}
}

func TestMigrateRefusesWhatItCannotRead(t *testing.T) {
	for text, arguments := range map[string][]string{
		"--database is missing":     {"up"},
		"is not an instant":         {"up", "--database", "postgres://nobody", "--epoch", "yesterday"},
		"layout \"big\" is neither": {"print", "--layout", "big"},
		"exclude each other":        {"up", "--database", "postgres://nobody", "--moved", "--new-namespace"},
		`"sideways" is no command`:  {"sideways"},
	} {
		if _, err := migrate(t, arguments...); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("migrate %s: %v, want an error that says %s", strings.Join(arguments, " "), err, text)
		}
	}
}

func TestStateWarnsOfACopyAnOldLayoutAndPendingWork(t *testing.T) {
	n := &namespace.Namespace{ID: "b2cf6d3c-3d0b-4d0c-8b7e-2f1f9a1c0001", Layout: generator.DefaultLayout(), DatabaseWorkers: 16}
	for text, state := range map[string]migrations.State{
		"repeats IDs of the original":   {Namespace: n, Left: 60 * 365 * 24 * time.Hour, Copied: "database \"b\" is a copy"},
		"The layout ends on 2093-09-06": {Namespace: n, Left: 365 * 24 * time.Hour},
		"Run \"pgflurry migrate up\".":  {Namespace: n, Left: 60 * 365 * 24 * time.Hour, Functions: []migrations.Function{{Name: "f()", State: "missing"}}},
	} {
		list := stateWarnings(state)
		if len(list) != 1 || !strings.Contains(list[0], text) {
			t.Errorf("%q, want one that says %s", list, text)
		}
	}
	if list := stateWarnings(migrations.State{Namespace: n, Left: 60 * 365 * 24 * time.Hour}); len(list) > 0 {
		t.Errorf("warnings where all is well: %q", list)
	}
}

func TestHelpSaysThatWorkersOfFunctionsAreGivenOutForGoodAndPrintReadsNoNamespace(t *testing.T) {
	for _, command := range []string{"up", "print"} {
		help, err := migrate(t, command, "--help")
		if err != nil || !strings.Contains(help, "given out once, for good, and the number cannot be raised") {
			t.Errorf("%v: the help of %s does not say that database workers are given out for good", err, command)
		}
		if existing := strings.Contains(help, "existing namespace"); existing != (command == "up") {
			t.Errorf("the help of %s speaks of an existing namespace: %v", command, existing)
		}
	}
}

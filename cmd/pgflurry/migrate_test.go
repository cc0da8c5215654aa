package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
)

// migrate runs the command and returns its output.
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
	out, err := migrate(t, "print", "--layout", "javascript", "--unit", "10ms", "--database-workers", "3",
		"--foreign-workers", "0-1,9")
	want := "CALL pgflurry.create_namespace(NULL, 41, 0, 6, 6, '2025-06-01T00:00:00Z', '10 ms', 3, NULL, " +
		"NULL,\n    new_disposable => false, new_region => NULL, " +
		"new_foreign_workers => '{[0,1],[9,9]}');"
	if err != nil || !strings.Contains(out, want) {
		t.Errorf("%v; the script does not hold %s", err, want)
	}
}

func TestMigrateRefusesWhatItCannotRead(t *testing.T) {
	for text, arguments := range map[string][]string{
		"--database is missing":     {"up"},
		"is not an instant":         {"up", "--database", "postgres://nobody", "--epoch", "yesterday"},
		"layout \"big\" is neither": {"print", "--layout", "big"},
		`"sideways" is no command`:  {"sideways"},
	} {
		if _, err := migrate(t, arguments...); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("migrate %s: %v, want an error that says %s", strings.Join(arguments, " "), err, text)
		}
	}
}

func TestStatusSucceedsOnlyIfEverythingIsInPlace(t *testing.T) {
	n := &namespace.Namespace{
		ID: "b2cf6d3c-3d0b-4d0c-8b7e-2f1f9a1c0001", Layout: generator.DefaultLayout(), DatabaseWorkers: 16,
	}
	for text, state := range map[string]migrations.State{
		"database \"b\" is a copy": {Namespace: n, Copied: "database \"b\" is a copy"},
		"not everything is in place": {
			Namespace: n, Functions: []migrations.Function{{Name: "f()", State: "missing"}},
		},
		"not everything is in place ": {},
		"not everything is in place  ": {
			Namespace: n, Migrations: []migrations.Applied{{Version: 1, Name: "00001_x.sql"}},
		},
		"the functions could not be compared: no such rights": {Namespace: n, Unchecked: "no such rights"},
	} {
		var out bytes.Buffer
		err := inPlace(state, "")
		if err == nil || err.Error() != strings.TrimSpace(text) || fault.HintOf(err) == "" {
			t.Errorf("%v, want %s, with a hint", err, text)
		}
		if err := printStateJSON(&out, state); err != nil ||
			!strings.HasPrefix(out.String(), "{\n  \"in_place\": false,") || !json.Valid(out.Bytes()) {
			t.Errorf("%v, JSON readers get %s", err, out.String())
		}
	}
	state := migrations.State{Namespace: n, Left: 60 * 365 * 24 * time.Hour}
	var out bytes.Buffer
	if err := inPlace(state, ""); err != nil {
		t.Errorf("everything is in place: %v", err)
	}
	if err := printStateJSON(&out, state); err != nil || !strings.HasPrefix(out.String(), "{\n  \"in_place\": true,") {
		t.Errorf("%v, JSON readers get %s", err, out.String())
	}
}

func TestStateWarnsOfALayoutThatIsNearlyOver(t *testing.T) {
	state := migrations.State{
		Namespace: &namespace.Namespace{Layout: generator.DefaultLayout()}, Left: 365 * 24 * time.Hour,
	}
	for range 2 {
		var out bytes.Buffer
		warns := state.Left < namespace.LayoutWarning
		if err := printState(&out, state, ""); err != nil ||
			strings.Contains(out.String(), "to do: The layout ends on 2093-09-06") != warns {
			t.Errorf("%v, with %s left it prints\n%s", err, state.Left, out.String())
		}
		state.Left *= 60
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pgflurry/internal/config/source"
	"pgflurry/internal/fault"
)

// environment reads these variables for the command at path. It returns the command and what it wrote to standard
// error.
func environment(t *testing.T, path string, environ ...string) (*cobra.Command, string, error) {
	t.Helper()
	root := newRoot()
	var errs bytes.Buffer
	root.SetErr(&errs)
	cmd, _, err := root.Find(strings.Fields(path))
	if err != nil {
		t.Fatal(err)
	}
	err = readEnvironment(cmd, environ)
	return cmd, errs.String(), err
}

func TestTheEnvironmentGivesFlagsThatTheCommandLineLeftAlone(t *testing.T) {
	cmd, errs, err := environment(t, "migrate up", "PGFLURRY_LAYOUT=javascript",
		"PGFLURRY_DATABASE_WORKERS=3", "HOME=/")
	got := cmd.Flag("layout").Value.String() + " " + cmd.Flag("database-workers").Value.String()
	if got != "javascript 3" || errs != "" || err != nil {
		t.Errorf("%s, %s, %v", got, errs, err)
	}
	if _, _, err := environment(t, "migrate up", "PGFLURRY_UNIT=long"); err == nil ||
		!strings.Contains(err.Error(), `PGFLURRY_UNIT is "long"`) {
		t.Errorf("a value that the flag does not take: %v", err)
	}
}

func TestWordsThatDecideTheIDSpaceAreNotTakenForLeftOutWhereTheyAreEmpty(t *testing.T) {
	for _, flag := range []string{"home", "namespace"} {
		cmd, _, err := newRoot().Find([]string{"namespace", "join"})
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Flags().Set(flag, ""); err != nil {
			t.Fatal(err)
		}
		err = readEnvironment(cmd, nil)
		if err == nil || !strings.Contains(err.Error(), "--"+flag+" is empty") || fault.HintOf(err) == "" {
			t.Errorf("--%s '': %v", flag, err)
		}
	}
}

func TestConsentIsNotTakenFromTheEnvironment(t *testing.T) {
	for name, path := range map[string]string{
		"PGFLURRY_COPY": "namespace separate", "PGFLURRY_HOME": "namespace join",
		"PGFLURRY_NO_OTHER_DRAWS": "namespace move",
		"PGFLURRY_HELD":           "workers retire", "PGFLURRY_REPLACE": "clients add",
	} {
		cmd, _, err := environment(t, path, name+"=true")
		if err == nil || !strings.Contains(err.Error(), name+" is set") ||
			!strings.Contains(err.Error(), "command line only") {
			t.Errorf("%s: %v", name, err)
		}
		flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, source.VariablePrefix), "_", "-"))
		if cmd.Flags().Changed(flag) {
			t.Errorf("%s has set --%s", name, flag)
		}
		if !strings.Contains(fault.HintOf(err), "--"+flag) {
			t.Errorf("%s: the hint does not name --%s", name, flag)
		}
	}
}

func TestAVariableThatNoCommandKnowsIsNamed(t *testing.T) {
	_, errs, err := environment(t, "migrate status", "PGFLURRY_DATABAS=x", "PGFLURRY_UPSTREAM=db:5432",
		"PGFLURRY_TEST_POSTGRES=x", "PGFLURRY_SERVICE_HOST=10.0.0.1", "PGFLURRY_PORT=tcp://10.0.0.1:6432",
		"PGFLURRY_HELP=1")
	want := "warning: environment variable PGFLURRY_DATABAS is the flag of no command and means nothing\n" +
		"warning: environment variable PGFLURRY_HELP is the flag of no command and means nothing\n"
	if errs != want || err != nil {
		t.Errorf("%q, %v", errs, err)
	}
}

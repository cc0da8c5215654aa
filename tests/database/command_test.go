package database

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// migrate runs "pgflurry migrate …" on a database, with further variables.
func migrate(t testing.TB, url string, environ []string, args ...string) (out, errs string, code int) {
	t.Helper()
	return pgflurry(t, url, environ, append([]string{"migrate"}, args...)...)
}

// pgflurry runs a command on a database.
func pgflurry(t testing.TB, url string, environ []string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(within(t), program.Path(t), append(args, "--database", url)...)
	cmd.Env = append(os.Environ(), environ...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func TestMigrateStatusExitsWith3UnlessEverythingIsInPlace(t *testing.T) {
	t.Parallel()
	program.Path(t) // built here, so that the build does not use up the time of a step
	drifted := server.Migrated(t)
	server.Exec(t, drifted, "DROP FUNCTION public.snowflake_ceil(timestamptz)")
	original := server.Migrated(t)
	copied := copyOf(t, original)
	for name, test := range map[string]struct {
		url, says string
		code      int
	}{
		"in place": {original, "", 0},
		"missing":  {server.Database(t), "not everything is in place", 3},
		"drifted":  {drifted, "not everything is in place", 3},
		"copied":   {copied, "is a copy", 3},
	} {
		if _, errs, code := migrate(t, test.url, nil, "status"); code != test.code ||
			!strings.Contains(errs, test.says) || code == 0 && errs != "" {
			t.Errorf("%s: exit code %d, %s", name, code, errs)
		}
		out, _, code := migrate(t, test.url, nil, "status", "--json")
		var state struct {
			InPlace    *bool `json:"in_place"`
			Migrations []any
		}
		if err := json.Unmarshal([]byte(out), &state); err != nil || state.InPlace == nil ||
			*state.InPlace != (test.code == 0) || len(state.Migrations) == 0 || code != test.code {
			t.Errorf("%s: exit code %d, %v, JSON readers get %s", name, code, err, out)
		}
	}
}

func TestMigrateTakesNoConsentFromTheEnvironment(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	copied := copyOf(t, original)
	drop(t, original)
	if out, errs, code := pgflurry(t, copied, []string{"PGFLURRY_NO_OTHER_DRAWS=true"},
		"namespace", "move"); code != 2 || !strings.Contains(errs, "PGFLURRY_NO_OTHER_DRAWS is set") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if _, is := row(t, copied).Copied(); !is {
		t.Error("a variable has settled a copy")
	}
}

func TestMigrateDownSaysWhetherItHasRemovedAnything(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	up(t, url, migrations.Settings{})
	for _, says := range []string{"pgflurry is removed", "there is nothing to remove"} {
		if out, errs, code := migrate(t, url, nil, "down"); code != 0 || !strings.Contains(out, says) {
			t.Errorf("exit code %d, %s%s, want %q", code, out, errs, says)
		}
	}
}

func TestMigrateSaysOnceWhyItCannotConnect(t *testing.T) {
	t.Parallel()
	url := server.In(t, server.Database(t), "is_not_here")
	for _, args := range [][]string{{"status"}, {"up"}, {"down"}} {
		_, errs, code := migrate(t, url, nil, args...)
		if code != 4 || strings.Count(errs, "\n") != 2 || strings.Count(errs, "hint: ") != 1 ||
			!strings.Contains(errs, `database "is_not_here" does not exist (SQLSTATE 3D000)`) {
			t.Errorf("%s: exit code %d, %s", args[0], code, errs)
		}
	}
	_, errs, code := pgflurry(t, server.Database(t), nil, "namespace", "join", "--home", url)
	if code != 4 || strings.Count(errs, "\n") != 2 || !strings.Contains(errs, `/is_not_here as "`) {
		t.Errorf("join: exit code %d, %s", code, errs)
	}
}

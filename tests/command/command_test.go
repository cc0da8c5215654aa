// Package command runs the built program on a real PostgreSQL. It proves for each command the exit code, the output and
// the errors.
package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// ended is the result of a command.
type ended struct {
	out, errs string
	code      int
}

// run runs pgflurry to its end. It may take a minute.
func run(t testing.TB, args ...string) ended {
	t.Helper()
	return runIn(t, nil, args...)
}

// runIn runs pgflurry with more variables.
func runIn(t testing.TB, environ []string, args ...string) ended {
	t.Helper()
	binary := program.Path(t) // built here, so that the build does not use up the minute
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), environ...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return ended{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// is checks an exit code, and that standard error has all the texts.
func (e ended) is(t testing.TB, code int, says ...string) {
	t.Helper()
	missing := false
	for _, text := range says {
		missing = missing || !strings.Contains(e.errs, text)
	}
	if e.code != code || missing {
		t.Errorf("exit code %d, expected %d and %q; it says\n%s%s", e.code, code, says, e.out, e.errs)
	}
}

package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Steered is a running program with clocks that the test sets: see internal/node/clock_steered.go.
type Steered struct {
	*Process
	t    testing.TB
	file string
}

// StartSteered is Start for the build with steered clocks. At first they are right.
func StartSteered(t testing.TB, args ...string) *Steered {
	t.Helper()
	return startSteered(t, steered.path(t), "", args...)
}

// StartReleasedAsIfSteered starts the released program with the environment of a steered one. It must ignore that.
func StartReleasedAsIfSteered(t testing.TB, by string, args ...string) *Steered {
	t.Helper()
	return startSteered(t, released.path(t), by, args...)
}

func startSteered(t testing.TB, path, by string, args ...string) *Steered {
	t.Helper()
	s := &Steered{t: t, file: filepath.Join(t.TempDir(), "clock")}
	s.write(by)
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "PGFLURRY_TEST_STEER_CLOCK="+s.file)
	s.Process = StartCommand(t, cmd)
	return s
}

// Steer sets the clocks and waits until the program reports that they hold: "wall=10m", "monotonic=5s rate=0.5", or ""
// for right clocks.
func (s *Steered) Steer(by string) {
	s.t.Helper()
	from := s.Printed()
	s.write(by)
	s.LineFrom(from, "the clock is steered")
}

// write replaces the file in one step, so that nobody reads half a file.
func (s *Steered) write(by string) {
	s.t.Helper()
	next := s.file + ".next"
	if err := os.WriteFile(next, []byte(by), 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(next, s.file); err != nil {
		s.t.Fatal(err)
	}
}

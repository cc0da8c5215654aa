package simulation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/volume"
)

const (
	anyTime = "whatever the clocks do"
	lossy   = "failovers and failbacks that lose acknowledged commits"
)

// The worlds of tests/model/lease.pml, without copies of a database, which no history makes.
var modelled = map[string]world{
	anyTime:                              {steps: true, told: true, modelled: true},
	"failovers to a synchronous standby": {steps: true, failovers: true, modelled: true},
	lossy: {
		failovers: true, acked: true, told: true, offset: skew, modelled: true,
	},
}

func TestTheModelOfTheLeaseAdmitsWhatTheRealCodeDoes(t *testing.T) {
	needsSpin(t)
	for name, w := range modelled {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken := map[string]int{}
			for seed := range uint64(volume.Of(15, 100)) {
				moments := recorded(t, w, seed)
				s := newScript(w, moments, nearest(moments))
				if refused := s.replay(t); refused != "" {
					t.Fatalf("history %d: code and model differ:\n%s", seed+1, refused)
				}
				s.count(taken)
			}
			t.Logf("steps of the model: %v", taken)
			for _, must := range stepsOf(w) {
				if taken[must] == 0 {
					t.Errorf("no history has step %s of the model", must)
				}
			}
		})
	}
}

// recorded runs a history and returns its moments.
func recorded(t *testing.T, w world, seed uint64) []moment {
	t.Helper()
	h := live(w, chosen(seed), func(format string, args ...any) {
		t.Fatalf("history %d: %s", seed+1, fmt.Sprintf(format, args...))
	})
	return h.moments
}

// stepsOf returns the steps of the model that the histories of a world must have.
func stepsOf(w world) []string {
	all := []string{"ACQUIRE", "RENEW", "LATE", "SEAL", "RELEASE", "ISSUE", "RESTART"}
	if w.failovers {
		all = append(all, "COPY", "PROMOTE")
	}
	if w.acked {
		all = append(all, "FOLLOW", "START_ALONE", "FAIL_BACK")
	}
	return all
}

var happened = regexp.MustCompile(`step ! (\w+)`)

// count counts the steps of the model that a script has.
func (s *script) count(taken map[string]int) {
	for _, l := range s.lines {
		for _, step := range happened.FindAllStringSubmatch(strings.Join(l.steps, "; "), -1) {
			taken[step[1]]++
		}
	}
}

var (
	begun  = regexp.MustCompile(`(?m)^\s*step (\d+)$`)
	reason = regexp.MustCompile(`text of failed assertion: (.*)`)
)

// replay leads the model along the script. It returns the step that the model refuses and why, or nothing.
func (s *script) replay(t *testing.T, lacks ...string) string {
	t.Helper()
	model, err := filepath.Abs("../model")
	must(err)
	folder := t.TempDir()
	must(os.WriteFile(filepath.Join(folder, "history.pml"), []byte(s.text(model)), 0o600))
	var args []string
	for _, guard := range lacks {
		args = append(args, "-D"+guard)
	}
	command := exec.Command("spin", append(args, "-T", "history.pml")...)
	command.Dir = folder
	said, err := command.CombinedOutput()
	if strings.Contains(string(said), "admitted\n") {
		return ""
	}
	last := begun.FindAllStringSubmatch(string(said), -1)
	if last == nil {
		t.Fatalf("spin has not begun the history: %v\n%s", err, said)
	}
	number, err := strconv.Atoi(last[len(last)-1][1])
	must(err)
	why := "the model has no such step there"
	if failed := reason.FindStringSubmatch(string(said)); failed != nil {
		why = "this is false in the model: " + failed[1]
	}
	var b strings.Builder
	for i, l := range s.lines[max(0, number-12) : number+1] {
		fmt.Fprintf(&b, "%4d  %s\n", max(0, number-12)+i, l.says)
	}
	return fmt.Sprintf("%sThe model refuses the last of these: %s\n(%s)", &b, why,
		strings.Join(s.lines[number].steps, "; "))
}

// needsSpin skips the test unless it is asked for.
func needsSpin(t *testing.T) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_SPIN") == "" {
		t.Skip("set PGFLURRY_TEST_SPIN=1 to replay histories against the model, which needs Debian's spin and gcc")
	}
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: Debian's packages spin and gcc have what this test needs", err)
		}
	}
}

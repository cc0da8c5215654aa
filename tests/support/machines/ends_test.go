//go:build full && linux

package machines

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// heldVariable says how the tests of an inner world end.
const heldVariable = "MACHINES_TEST_HELD"

// ends are the ways in which tests end: the act, the exit code, and the output.
var ends = map[string]struct {
	args   []string
	act    func(tests *os.Process) error
	code   int // -1: a signal
	prints string
}{
	"pass":    {code: 0, prints: "PASS"},
	"fail":    {code: 1, prints: "--- FAIL: TestHeld"},
	"panic":   {code: 2, prints: "panic: as told"},
	"timeout": {args: []string{"-test.timeout=15s"}, code: 2, prints: "machines.TestHeld("},
	"SIGQUIT": {act: signalled(syscall.SIGQUIT), code: 2, prints: "machines.TestHeld("}, // as go test does
	"SIGTERM": {act: signalled(syscall.SIGTERM), code: 128 + 15},
	"SIGKILL": {act: signalled(syscall.SIGKILL), code: -1},
	"Ctrl-C": {act: func(tests *os.Process) error { // a terminal signals the whole group
		return syscall.Kill(-tests.Pid, syscall.SIGINT)
	}, code: 128 + 2},
}

func signalled(s syscall.Signal) func(*os.Process) error {
	return func(tests *os.Process) error { return tests.Signal(s) }
}

// TestHeld makes a world with everything that it could leave behind, for TestNothingIsLeftHoweverTheTestsEnd.
func TestHeld(t *testing.T) {
	end := os.Getenv(heldVariable)
	if end == "" {
		t.Skip("another test runs this one")
	}
	w := New(t, "left1", "left2")
	w.Part([]string{"left1"}, []string{"left2"})
	w.Machine("left1").Fill()
	paused := w.Machine("left2").Start(t, Command{Name: "sh", Args: []string{
		"-c",
		"touch /dev/shm/left; touch /run/left; (sleep 1000 &); exec sleep 1000",
	}, As: "postgres"})
	w.Machine("left2").Pause()
	echo(t, w.Machine("left1"))
	for _, path := range []string{"/dev/shm/left", "/run/left", filepath.Join(t.TempDir(), "left")} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("held")
	switch end {
	case "pass":
	case "fail":
		t.Error("as told")
	case "panic":
		panic("as told")
	default:
		<-paused.Exited()
	}
}

func TestNothingIsLeftHoweverTheTestsEnd(t *testing.T) {
	New(t) // or it skips
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		t.Run(name, func(t *testing.T) {
			end, before := ends[name], everything(t)
			tests := exec.Command("/proc/self/exe", append(end.args, "-test.run=^TestHeld$", "-test.v")...)
			tests.Env = append(os.Environ(), stageVariable+"=", heldVariable+"="+name, "GORACE=atexit_sleep_ms=0")
			tests.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			printed := &held{then: func() error { return nil }}
			if end.act != nil {
				printed.then = func() error { return end.act(tests.Process) }
			}
			tests.Stdout, tests.Stderr = printed, printed
			tests.WaitDelay = patience // for orphans that have its output open
			if err := tests.Run(); tests.ProcessState == nil || errors.Is(err, exec.ErrWaitDelay) {
				t.Fatalf("%v\n%s", err, printed)
			}
			code, said := tests.ProcessState.ExitCode(), printed.String()
			if code != end.code || !strings.Contains(said, "held\n") || !strings.Contains(said, end.prints) {
				t.Errorf("exit code %d, want %d; want it to print held and %q:\n%s", code, end.code, end.prints, said)
			}
			// The kernel removes namespaces some time later.
			var left []string
			for end := time.Now().Add(patience); time.Now().Before(end); {
				if left = without(everything(t), before); len(left) == 0 {
					return
				}
			}
			t.Errorf("left after %v: %q", patience, left)
		})
	}
}

// held collects the output of the tests. Once they have their world it starts the act.
type held struct {
	text strings.Builder
	then func() error
}

func (h *held) String() string { return h.text.String() }

func (h *held) Write(text []byte) (int, error) {
	n, _ := h.text.Write(text)
	if then := h.then; then != nil && strings.Contains(h.String(), "held\n") {
		h.then = nil
		return n, then()
	}
	return n, nil
}

// everything lists all that a world could leave outside.
func everything(t *testing.T) (all []string) {
	t.Helper()
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range interfaces {
		all = append(all, "interface "+each.Name)
	}
	rules, err := exec.Command("nft", "list", "ruleset").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rules)) {
		all = append(all, "rule "+line)
	}
	for _, file := range []string{"self/mountinfo", "sysvipc/shm", "sysvipc/sem", "sysvipc/msg"} {
		text, err := os.ReadFile("/proc/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			all = append(all, file+" "+line)
		}
	}
	for _, pattern := range []string{"/run/*", "/dev/shm/*", ground + "/*", os.TempDir() + "/*", "/proc/[0-9]*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, paths...)
	}
	return all
}

func without(all, these []string) []string {
	return slices.DeleteFunc(all, func(one string) bool { return slices.Contains(these, one) })
}

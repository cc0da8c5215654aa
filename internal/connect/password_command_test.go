//go:build unix

package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var quiet = slog.New(slog.DiscardHandler)

// counted is a command that writes a line for each of its runs into a file, and then output.
func counted(t *testing.T, output string) (c *PasswordCommand, runs func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs")
	c = NewPasswordCommand(fmt.Sprintf("echo run >>%s; printf %q", file, output), quiet)
	return c, func() int {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(content), "run")
	}
}

func TestAPasswordIsKeptAsLongAsItsProgramSays(t *testing.T) {
	for output, want := range map[string]struct {
		password string
		runs     int // for two calls, a call nine minutes later, and one two minutes after that
	}{
		`pass word`: {"pass word", 4}, `p\n`: {"p", 4}, `p\r\n10m\r\n`: {"p", 2}, `p\n0s\n`: {"p", 4},
	} {
		c, runs := counted(t, output)
		now := time.Now()
		c.now = func() time.Time { return now }
		for _, pause := range []time.Duration{0, 0, 9 * time.Minute, 2 * time.Minute} {
			now = now.Add(pause)
			if got, err := c.Password(t.Context()); got != want.password || err != nil {
				t.Errorf("%q gave %q and error %v; expected %q", output, got, err, want.password)
			}
		}
		if got := runs(); got != want.runs {
			t.Errorf("%q: %d runs; expected %d", output, got, want.runs)
		}
	}
}

func TestAPasswordCountsThoughSomethingKeepsTheOutputOpen(t *testing.T) {
	password, err := NewPasswordCommand("echo p; sleep 4 2>/dev/null &", quiet).Password(t.Context())
	if password != "p" || err != nil {
		t.Errorf("password %q, error %v; expected p", password, err)
	}
}

func TestWhatAPasswordCommandHasStartedEndsWithIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c := NewPasswordCommand("sleep 1000 >/dev/null 2>&1 & echo $! >"+file+"; echo p", quiet)
	_, err := c.Password(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; runtime.Gosched() {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(state), ") Z ") {
			break // ended, and nobody has waited for it
		}
		if time.Now().After(late) {
			t.Fatalf("process %d goes on", pid)
		}
	}
}

func TestWhatAPasswordCommandComplainsOfIsInTheLog(t *testing.T) {
	var log bytes.Buffer
	c := NewPasswordCommand("echo no vault there >&2; yes | head -c 100000 >&2; echo p",
		slog.New(slog.NewTextHandler(&log, nil)))
	if _, err := c.Password(t.Context()); err != nil || !strings.Contains(log.String(), `said="no vault there\ny\n`) {
		t.Errorf("error %v, and the log says %s", err, log.String())
	}
}

func TestWhoWaitsForAPasswordCommandThatHangsIsToldSo(t *testing.T) {
	c := NewPasswordCommand("sleep 1000", quiet)
	c.busy <- struct{}{} // another connection runs it
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Password(ctx); !IsNoPassword(err) {
		t.Errorf("error %v; expected that the command gave no password", err)
	}
}

func TestAForgottenPasswordIsAskedForAgain(t *testing.T) {
	c, runs := counted(t, `p\n1h\n`)
	for range 2 {
		if _, err := c.Password(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Forget()
	}
	if got := runs(); got != 2 {
		t.Errorf("%d runs; expected one after each Forget", got)
	}
}

func TestAProgramWithoutAPasswordIsNamedWithoutItsOutput(t *testing.T) {
	for command, want := range map[string]string{
		"echo geheim; exit 3":                 "exit status 3",
		"echo":                                "first line is empty",
		"printf 'geheim\\nsoon'":              "second line",
		"printf 'geheim\\n-1m'":               "second line",
		"printf 'geheim\\n1m\\nmore'":         "third one",
		"yes geheim":                          "more than 65536 bytes",
		"no-such-program-of-this-test geheim": "exit status 127",
	} {
		password, err := NewPasswordCommand(command, quiet).Password(t.Context())
		if password != "" || err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: password %q, error %v; expected %q", command, password, err, want)
		}
	}
}

func TestAProgramThatHangsEndsWithTheConnection(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := NewPasswordCommand("sleep 100 & wait", quiet).Password(ctx); err == nil ||
		!strings.Contains(err.Error(), "time was over") {
		t.Errorf("error %v; expected that its time was over", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := NewPasswordCommand("echo p", quiet).Password(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; expected that it was cancelled", err)
	}
}

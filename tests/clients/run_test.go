package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// deeds are their names, in order; bareDeeds are those that need no table.
var (
	deeds = []string{
		"password", "scram", "tls", "unprepared", "prepared", "pipeline", "mixed", "transaction", "copy", "notify",
		"cancel", "default", "pool", "parallel",
	}
	bareDeeds = []string{
		"scram", "tls", "unprepared", "prepared", "pipeline", "mixed", "commit", "pool", "parallel",
	}
)

// line is what a program prints about one deed.
type line struct {
	Deed, None, Error, SQLState string
	Result                      any
	IDs                         []string
}

// giveUp ends a program that hangs.
const giveUp = 3 * time.Minute

// maker makes the programs that must be made, each command once.
type maker struct {
	out      string
	made     map[string]error
	versions map[string]string
}

func (m *maker) make(d driver) error {
	if d.build == nil {
		return nil
	}
	command := m.fill(d.build)
	key := strings.Join(command, " ")
	err, done := m.made[key]
	if !done {
		var out []byte
		if out, err = exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			err = &buildError{key, err, out}
		}
		m.made[key] = err
	}
	return err
}

type buildError struct {
	command string
	cause   error
	out     []byte
}

func (e *buildError) Error() string { return e.command + ": " + e.cause.Error() + "\n" + string(e.out) }
func (e *buildError) Unwrap() error { return e.cause }

func (m *maker) fill(command []string) (filled []string) {
	for _, word := range command {
		filled = append(filled, strings.ReplaceAll(word, "{out}", m.out))
	}
	return filled
}

// version asks the program for the driver's version; an error says that the driver is not installed.
func (m *maker) version(d driver) (string, error) {
	if err := m.make(d); err != nil {
		return "", err
	}
	command := m.fill(append(d.command[:len(d.command):len(d.command)], "version"))
	if known := m.versions[d.program]; known != "" {
		return known, nil
	}
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return "", &buildError{strings.Join(command, " "), err, out}
	}
	m.versions[d.program] = strings.TrimSpace(string(out))
	return m.versions[d.program], nil
}

// run does deeds of a driver and returns their lines. None may have failed.
func (m *maker) run(t *testing.T, d driver, asked, environment []string) []line {
	t.Helper()
	lines := m.try(t, d, asked, environment)
	for _, l := range lines {
		if l.Error != "" {
			t.Errorf("%s: %s (SQLSTATE %q)", l.Deed, l.Error, l.SQLState)
		}
	}
	return lines
}

// try is run where a deed may fail.
func (m *maker) try(t *testing.T, d driver, asked, environment []string) (lines []line) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), giveUp)
	defer cancel()
	command := m.fill(d.command)
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Env = slices.Concat(os.Environ(), environment,
		[]string{"CLIENT_MODE=" + d.mode, "CLIENT_DEEDS=" + strings.Join(asked, " ")})
	process.WaitDelay = 10 * time.Second
	var complaints bytes.Buffer
	process.Stderr = &complaints
	out, err := process.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(command, " "), err, out, complaints.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l line
		if err := decoder.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s\n%s", err, out, complaints.Bytes())
		}
		lines = append(lines, l)
	}
	if len(lines) != len(asked) {
		t.Fatalf("%d deeds were done; expected %d\n%s\n%s", len(lines), len(asked), out, complaints.Bytes())
	}
	for i, l := range lines {
		if l.Deed != asked[i] {
			t.Fatalf("deed %d is %q; expected %q", i+1, l.Deed, asked[i])
		}
	}
	return lines
}

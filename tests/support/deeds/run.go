package deeds

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

// Line is what a program prints about a deed.
type Line struct {
	Deed, None, Error, SQLState string
	Result                      any
	IDs                         []string
}

// giveUp limits the time of a program. After that the test ends it.
const giveUp = 3 * time.Minute

// Maker builds the programs that need it, with each command once, and runs them.
type Maker struct {
	out      string
	made     map[string]error
	versions map[string]string
}

// NewMaker returns a Maker that builds in a folder of the test.
func NewMaker(t *testing.T) *Maker {
	return &Maker{out: t.TempDir(), made: make(map[string]error), versions: make(map[string]string)}
}

func (m *Maker) make(p Program) error {
	if p.Build == nil {
		return nil
	}
	command := m.fill(p.Build)
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

func (m *Maker) fill(command []string) (filled []string) {
	for _, word := range command {
		filled = append(filled, strings.ReplaceAll(word, "{out}", m.out))
	}
	return filled
}

// Version asks a program for its version. An error means that something it needs is not installed.
func (m *Maker) Version(p Program) (string, error) {
	if err := m.make(p); err != nil {
		return "", err
	}
	command := m.fill(append(p.Command[:len(p.Command):len(p.Command)], "version"))
	if known := m.versions[p.Source]; known != "" {
		return known, nil
	}
	process := exec.Command(command[0], command[1:]...)
	process.Env = append(os.Environ(), p.Environment...)
	out, err := process.CombinedOutput()
	if err != nil {
		return "", &buildError{strings.Join(command, " "), err, out}
	}
	m.versions[p.Source] = strings.TrimSpace(string(out))
	return m.versions[p.Source], nil
}

// Run runs deeds of a program and returns their lines. If one failed, so does the test.
func (m *Maker) Run(t *testing.T, p Program, asked, environment []string) []Line {
	t.Helper()
	lines := m.Try(t, p, asked, environment)
	for _, l := range lines {
		if l.Error != "" {
			t.Errorf("%s: %s (SQLSTATE %q)", l.Deed, l.Error, l.SQLState)
		}
	}
	return lines
}

// Try is Run for deeds that may fail.
func (m *Maker) Try(t *testing.T, p Program, asked, environment []string) (lines []Line) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), giveUp)
	defer cancel()
	command := m.fill(p.Command)
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Env = slices.Concat(os.Environ(), p.Environment, environment,
		[]string{"CLIENT_MODE=" + p.Mode, "CLIENT_DEEDS=" + strings.Join(asked, " ")})
	process.WaitDelay = 10 * time.Second
	var complaints bytes.Buffer
	process.Stderr = &complaints
	out, err := process.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(command, " "), err, out, complaints.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l Line
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

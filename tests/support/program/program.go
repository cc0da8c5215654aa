// Package program builds the product once for all test packages and runs it as a user does. The product runs as
// processes, and tests watch what they print.
package program

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgflurry/tests/support/race"
	"pgflurry/tests/support/server"
)

// A build is one way to build the product. All test packages share its binary, because linking takes seconds.
type build struct {
	name, tags string
	once       sync.Once
	binary     string
	err        error
}

// buildFlags builds the product as the test is built.
var buildFlags = []string{fmt.Sprintf("-race=%v", race.Enabled)}

var released, steered = build{name: "released"}, build{name: "steered", tags: "steerclock"}

// Path builds cmd/pgflurry, with the race detector if the test has it. It returns the path of the binary.
func Path(t testing.TB) string {
	t.Helper()
	return released.path(t)
}

func (b *build) path(t testing.TB) string {
	t.Helper()
	b.once.Do(func() { b.binary, b.err = b.make() })
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.binary
}

// make builds in the user's cache folder, where "go build" leaves a binary that is up to date as it is. One package
// builds at a time. Each has a link of its own, so that a later build replaces no program that runs.
func (b *build) make() (binary string, err error) {
	shared, lock, err := server.Cached(fmt.Sprintf("%s-race=%v", b.name, race.Enabled), syscall.LOCK_EX)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := os.MkdirAll(shared, 0o700); err != nil {
		return "", err
	}
	source, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "pgflurry").Output()
	if err != nil {
		return "", fmt.Errorf("the folder of module pgflurry is not found: %w", err)
	}
	built := filepath.Join(shared, "pgflurry")
	// In its own folder, because another module does not require what the product requires.
	args := append([]string{"-C", strings.TrimSpace(string(source)), "build", "-tags", b.tags}, buildFlags...)
	if out, err := exec.Command("go", append(args, "-o", built, "./cmd/pgflurry")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	dir, err := server.Folder(shared)
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "pgflurry")
	return binary, os.Link(built, binary)
}

// Process is a running program. It keeps every line of both outputs.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	done  chan struct{} // closed when it has ended and everything is read
	err   error         // its exit error; valid after done
	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed and replaced with each line
}

// Start runs the product with these arguments. If it still runs when the test ends, it is killed.
func Start(t testing.TB, args ...string) *Process {
	t.Helper()
	return StartCommand(t, exec.Command(Path(t), args...))
}

// StartCommand runs any command in the same way.
func StartCommand(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{t: t, cmd: cmd, done: make(chan struct{}), more: make(chan struct{})}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	go p.read(read)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("output of %s:\n%s", strings.Join(cmd.Args, " "), p.Output())
		}
	})
	return p
}

func (p *Process) read(r io.ReadCloser) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
	r.Close()
	p.err = p.cmd.Wait()
	close(p.done)
}

// Line waits for a line that contains all texts, and returns it.
func (p *Process) Line(texts ...string) string {
	p.t.Helper()
	return p.LineFrom(0, texts...)
}

// Printed returns the number of lines so far.
func (p *Process) Printed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}

// LineFrom is Line, and skips the first lines.
func (p *Process) LineFrom(from int, texts ...string) string {
	p.t.Helper()
	limit := time.After(server.Patience)
	for {
		p.mu.Lock()
		lines, more := p.lines, p.more
		p.mu.Unlock()
		for ; from < len(lines); from++ {
			if containsAll(lines[from], texts) {
				return lines[from]
			}
		}
		select {
		case <-more:
		case <-p.done:
			p.t.Fatalf("the program ended (%v) before it printed %q:\n%s", p.err, texts, p.Output())
		case <-limit:
			p.t.Fatalf("no line with %q in %v:\n%s", texts, server.Patience, p.Output())
		}
	}
}

func containsAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}

// Output returns all lines so far.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// Signal sends a signal to the process.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// End waits for the end of the process and returns its exit code, or -1 after a signal.
func (p *Process) End() int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(server.Patience):
		p.t.Fatalf("the program has not ended after %v:\n%s", server.Patience, p.Output())
		return 0
	}
}

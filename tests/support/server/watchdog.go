package server

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

//go:embed watchdog.sh
var watchdogScript string

// A watchdog ends the programs of a test package and removes its folders when the package has ended, however that was.
// It is a process of its own, and sees the end of a pipe.
type watchdog struct {
	mu      sync.Mutex
	command *exec.Cmd
	pipe    *os.File // takes the names of folders
	chosen  bool     // somebody has said where temporary files go
}

var guard watchdog

// start also makes the package's own folder for temporary files, which its programs inherit. By that the watchdog knows
// those programs.
func (w *watchdog) start() error {
	outside := os.Environ()
	w.chosen = os.Getenv("TMPDIR") != ""
	scratch, err := os.MkdirTemp("", "pgflurry-")
	if err != nil {
		return err
	}
	if err := os.Chmod(scratch, 0o755); err != nil {
		return err
	}
	ends, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ends.Close()
	w.command, w.pipe = exec.Command("sh", "-c", watchdogScript, "sh", "TMPDIR="+scratch), pipe
	w.command.Stdin, w.command.Env = ends, outside
	w.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C does not reach it
	if err := w.command.Start(); err != nil {
		return fmt.Errorf("the watchdog of the test package does not start: %w", err)
	}
	if err := w.remove(scratch); err != nil {
		return err
	}
	return os.Setenv("TMPDIR", scratch)
}

// remove has a folder removed at the end.
func (w *watchdog) remove(folder string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := fmt.Fprintln(w.pipe, folder)
	return err
}

// end waits until everything is removed.
func (w *watchdog) end() error {
	w.pipe.Close()
	return w.command.Wait()
}

// Watched runs the tests of a package that has no server of its own, and returns their exit code. What they leave, a
// process of its own ends and removes, also after SIGKILL.
func Watched(tests func() int) (code int) {
	if err := guard.start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := guard.end(); err != nil {
			fmt.Fprintln(os.Stderr, "the watchdog of the test package:", err)
			code = 1
		}
	}()
	return tests()
}

// Folder makes a folder that everybody can enter, below parent (empty: where temporary files go). It is removed when
// the test package has ended, however that was. Only within Watched.
func Folder(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, "pgflurry-")
	if err != nil {
		return "", err
	}
	if err := guard.remove(dir); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

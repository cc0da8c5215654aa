//go:build linux

package machines

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Command is a program, and how to start it.
type Command struct {
	Name string // a path, or a name in PATH
	Args []string
	Env  []string // in addition to PATH, HOME, USER, LOGNAME, LANG and the variables of the clock
	As   string   // the user; root if empty
	Dir  string   // the working directory; / if empty
	Log  string   // gets the output at its end; a new file if empty
}

// Process is a program on a machine, running or ended.
type Process struct {
	command *exec.Cmd
	log     string
	exited  chan struct{}
}

// Start runs a command on the machine, and boots the machine if it is off. The process ends with the machine or the
// world.
func (m *Machine) Start(t testing.TB, c Command) *Process {
	t.Helper()
	m.boot()
	account, err := accountOf(c.As)
	if err != nil {
		t.Fatalf("%s on %s: %v", c.Name, m.name, err)
	}
	log, err := m.openLog(c)
	if err != nil {
		t.Fatalf("%s on %s: %v", c.Name, m.name, err)
	}
	defer log.Close()
	p := &Process{command: exec.Command(c.Name, c.Args...), log: log.Name(), exited: make(chan struct{})}
	p.command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + account.home, "USER=" + account.name,
		"LOGNAME=" + account.name,
	}, append(m.clockEnvironment(), c.Env...)...)
	p.command.Dir = c.Dir
	if c.Dir == "" {
		p.command.Dir = "/"
	}
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: account.credential}
	if err := p.begin(func() error { return m.inside(p.command.Start) }); err != nil {
		t.Fatalf("%s on %s: %v", c.Name, m.name, err)
	}
	return p
}

// begin starts the process. A goroutine waits for its end.
func (p *Process) begin(start func() error) error {
	if err := start(); err != nil {
		return err
	}
	go func() {
		_ = p.command.Wait() // ProcessState has the result
		close(p.exited)
	}()
	return nil
}

func (m *Machine) openLog(c Command) (*os.File, error) {
	if c.Log == "" {
		return os.CreateTemp("", m.name+"-"+filepath.Base(c.Name)+"-*.log")
	}
	return os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

// account is a user, as this machine knows it.
type account struct {
	name, home string
	credential *syscall.Credential
}

func accountOf(name string) (account, error) {
	if name == "" {
		name = "root"
	}
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return account{}, err
	}
	numbers := []uint32{}
	for _, id := range append([]string{u.Uid, u.Gid}, ids...) {
		number, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return account{}, fmt.Errorf("user %s has the number %q: %w", name, id, err)
		}
		numbers = append(numbers, uint32(number))
	}
	return account{name, u.HomeDir, &syscall.Credential{Uid: numbers[0], Gid: numbers[1], Groups: numbers[2:]}}, nil
}

// PID is the process number in the world. On its machine the process has another number.
func (p *Process) PID() int { return p.command.Process.Pid }

// Signal sends a signal, unless the process has ended.
func (p *Process) Signal(s os.Signal) { _ = p.command.Process.Signal(s) }

// Kill kills this process at once. Its children go on.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL); <-p.exited }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Running says whether the process still runs.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Log returns the content of its log file, to which others may write, too.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

package command

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A terminal has pgflurry at one end and a person who types at the other.
type terminal struct {
	t       *testing.T
	screen  *os.File // the person's end: what is typed goes in, what is shown comes out
	keys    *os.File // the program's end
	command *exec.Cmd

	mu    sync.Mutex
	shown strings.Builder
	more  chan struct{} // signals more output, or its end
	done  chan struct{}
}

// atTerminal runs pgflurry at a terminal.
func atTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := &terminal{
		t: t, screen: screen, keys: keys, command: exec.Command(program.Path(t), args...),
		more: make(chan struct{}, 1), done: make(chan struct{}),
	}
	r.command.Stdin, r.command.Stdout, r.command.Stderr = keys, keys, keys
	r.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go r.watch()
	t.Cleanup(func() {
		_ = r.command.Process.Kill() // if it has not ended
		keys.Close()
		screen.Close()
		<-r.done
	})
	return r
}

func (r *terminal) watch() {
	defer close(r.done)
	buffer := make([]byte, 1024)
	for {
		n, err := r.screen.Read(buffer)
		r.mu.Lock()
		r.shown.Write(buffer[:n])
		r.mu.Unlock()
		select {
		case r.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// all returns everything that was shown.
func (r *terminal) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown.String()
}

// asks waits until the program shows a text.
func (r *terminal) asks(text string) {
	r.t.Helper()
	late := time.After(time.Minute)
	for !strings.Contains(r.all(), text) {
		select {
		case <-r.more:
		case <-late:
			r.t.Fatalf("it does not ask %q; it shows\n%s", text, r.all())
		}
	}
}

// types waits until the terminal hides typed text, or shows it again, and then types.
func (r *terminal) types(text string, hidden bool) {
	r.t.Helper()
	for late := time.Now().Add(time.Minute); r.echoes() == hidden; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			r.t.Fatalf("the terminal shows what is typed: %v", r.echoes())
		}
	}
	if _, err := r.screen.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
}

// echoes says whether the terminal shows typed text.
func (r *terminal) echoes() bool {
	r.t.Helper()
	settings, err := unix.IoctlGetTermios(int(r.keys.Fd()), unix.TCGETS)
	if err != nil {
		r.t.Fatal(err)
	}
	return settings.Lflag&unix.ECHO != 0
}

// end returns the exit code.
func (r *terminal) end() int {
	r.t.Helper()
	_ = r.command.Wait()
	return r.command.ProcessState.ExitCode()
}

func TestAPasswordIsAskedForTwiceAtATerminalAndNeverShown(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	r := atTerminal(t, clients(url, "add", "shop")...)
	r.asks(`Password of client "shop": `)
	r.types("sesame\n", true)
	r.asks("The same again: ")
	r.types("sesame\n", true)
	if code := r.end(); code != 0 || strings.Contains(r.all(), "sesame") {
		t.Errorf("exit code %d; it shows\n%s", code, r.all())
	}
	r.asks(`client "shop" is added`)
	before := found(t, url, "shop")
	if !r.echoes() {
		t.Error("the terminal is left so that it shows nothing")
	}

	r = atTerminal(t, clients(url, "add", "shop", "--replace")...)
	r.asks("Password")
	r.types("sesame\n", true)
	r.asks("again")
	r.types("seasame\n", true)
	r.asks("the two passwords differ")
	if code := r.end(); code != 2 {
		t.Errorf("exit code %d", code)
	}

	r = atTerminal(t, clients(url, "add", "shop", "--replace")...)
	r.asks("Password")
	r.types("ses\x03", true) // Ctrl-C
	r.asks("stopped by signal: interrupt")
	if code := r.end(); code != 1 || !r.echoes() {
		t.Errorf("exit code %d; the terminal shows what is typed: %v", code, r.echoes())
	}
	if after := found(t, url, "shop"); after.Verifier.Text() != before.Verifier.Text() {
		t.Error("the password has changed")
	}
	r = atTerminal(t, clients(url, "add", "shop")...)
	r.asks("there is a client") // an error before any question
	if code := r.end(); code != 1 || strings.Contains(r.all(), "Password of") {
		t.Errorf("exit code %d; it shows\n%s", code, r.all())
	}
}

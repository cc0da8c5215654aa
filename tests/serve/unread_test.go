//go:build full && linux

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// patience limits the wait for what must not depend on the log.
const patience = time.Minute

// fill writes to a pipe until it is full. It opens the pipe anew, because non-blocking mode belongs to the open file.
// The standard error of the program has to stay blocking, as it usually is.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	fd, err := syscall.Open(fmt.Sprintf("/proc/self/fd/%d", pipe.Fd()), syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, piece := range [][]byte{make([]byte, 4096), {0}} {
		for err = nil; err == nil; _, err = syscall.Write(fd, piece) {
		}
		if !errors.Is(err, syscall.EAGAIN) {
			t.Fatal(err)
		}
	}
}

// ended waits for a command and returns its exit code.
func ended(t *testing.T, command *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	defer late.Stop()
	_ = command.Wait()
	return command.ProcessState.ExitCode()
}

func TestALogThatNobodyReadsStopsNobody(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	log, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	defer write.Close()
	args := program.ServeArgs(t, direct, "stuck", "--log-level", "debug") // logs each session
	command := exec.Command(program.Path(t), args...)
	command.Stderr = write
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Process.Kill()
	address, lines := "", bufio.NewScanner(log)
	missing := []string{"msg=listening", "worker acquired", "are answered from memory"} // in any order
	for len(missing) > 0 && lines.Scan() {
		missing = slices.DeleteFunc(missing, func(said string) bool { return strings.Contains(lines.Text(), said) })
		if strings.Contains(lines.Text(), "msg=listening") {
			address = program.Field(lines.Text(), "address")
		}
	}
	through := server.Parse(t, direct)
	through.Host = address
	early := server.Connect(t, through.String())
	fill(t, write)

	for i := range 20 {
		stranger, err := net.DialTimeout("tcp", address, patience)
		if err != nil {
			t.Fatal(err)
		}
		_ = stranger.SetDeadline(time.Now().Add(patience))
		if _, err := stranger.Write([]byte{0, 0, 0, 9, 0, 0, 0, byte(i), 0}); err != nil { // a broken packet is logged
			t.Error(err)
		}
		if _, err := io.Copy(io.Discard, stranger); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a refused client waits for the log")
		}
		stranger.Close()
		conn := server.Connect(t, through.String())
		for _, c := range []*pgx.Conn{conn, early} {
			if id, err := drawOne(c); err != nil || workerOf(id) == databaseWorker {
				t.Errorf("ID %d, error %v; expected one from memory", id, err)
			}
		}
		conn.Close(t.Context())
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if code := ended(t, command); code != 0 {
		t.Errorf("exit code %d; expected the proxy to end by itself", code)
	}
	const held = "SELECT count(*) FROM pgflurry.worker WHERE node = 'stuck' AND released_at IS NULL"
	if n := server.Value[int](t, server.Connect(t, direct), held); n != 0 {
		t.Error("the worker was not released")
	}
}

func TestAProgramWhoseErrorNobodyReadsEndsAllTheSame(t *testing.T) {
	t.Parallel()
	log, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	defer write.Close()
	fill(t, write)
	command := exec.Command(program.Path(t), "serve", "--log-format", "xml")
	command.Stderr = write
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, command); code < 1 {
		t.Errorf("exit code %d; expected that of a failure", code)
	}
}

package servers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is a server that the benchmark has started.
type child struct {
	name    string
	command *exec.Cmd
	said    capped
	ended   chan struct{}
}

// installed finds a program on PATH, or where Debian puts servers.
func installed(name string) (path string, found bool) {
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	return path, err == nil
}

// versionOf is the first line that a program says of its version.
func versionOf(ctx context.Context, program, flag string) (string, error) {
	out, err := exec.CommandContext(ctx, program, flag).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, flag, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first, nil
}

// startChild starts a server and waits until it accepts connections on address. Ctrl-C does not reach it: stop ends it.
func startChild(ctx context.Context, name, address string, command *exec.Cmd) (*child, error) {
	c := &child{name: name, command: command, ended: make(chan struct{})}
	command.Stdout, command.Stderr = &c.said, &c.said
	ownGroup(command)
	started := make(chan error)
	go func() { // the parent death signal follows the thread that starts the process
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait()
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	if err := c.accepts(ctx, address); err != nil {
		c.stop()
		return nil, fmt.Errorf("%s does not accept connections on %s: %w; it said: %s",
			name, address, err, c.said.String())
	}
	return c, nil
}

func (c *child) accepts(ctx context.Context, address string) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-again.C:
		case <-c.ended:
			return fmt.Errorf("it ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *child) pid() int { return c.command.Process.Pid }

// stopPatience is how long a server may take for an orderly end. Then it is killed.
const stopPatience = 10 * time.Second

func (c *child) stop() {
	_ = c.command.Process.Signal(syscall.SIGTERM)
	patience := time.NewTimer(stopPatience)
	defer patience.Stop()
	select {
	case <-c.ended:
		return
	case <-patience.C:
	}
	_ = c.command.Process.Kill()
	<-c.ended
}

// capped keeps the first 16 KiB that are written to it.
type capped struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := 16<<10 - c.bytes.Len(); room > 0 {
		c.bytes.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes.String()
}

// writePublic writes a file that servers of other users can read.
func writePublic(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

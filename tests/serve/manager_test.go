//go:build unix

package serve

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A manager stands in for systemd. It holds the listening sockets, starts processes that share them, and receives their
// notifications. It speaks the protocols of sd_listen_fds(3) and sd_notify(3).
type manager struct {
	t       *testing.T
	sockets []*os.File
	names   []string // of the sockets
	more    []string // further environment variables
}

// listen opens a socket, which the manager passes on under this name.
func (m *manager) listen(name string) (address string) {
	m.t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	defer socket.Close() // the duplicated descriptor stays open
	file, err := socket.(*net.TCPListener).File()
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { file.Close() })
	m.sockets, m.names = append(m.sockets, file), append(m.names, name)
	return socket.Addr().String()
}

// A unit is a process of a manager, with its notifications.
type unit struct {
	*program.Process
	told *notices
}

// start starts the product. A shell in between knows the process number before the product begins.
func (m *manager) start(args ...string) unit {
	m.t.Helper()
	told := newNotices(m.t)
	const script = `export LISTEN_PID=$$ WATCHDOG_PID=$$; exec "$0" "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, program.Path(m.t)}, args...)...)
	cmd.ExtraFiles = m.sockets
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+told.path, "LISTEN_FDNAMES="+strings.Join(m.names, ":"),
		"LISTEN_FDS="+string(rune('0'+len(m.sockets))))
	cmd.Env = append(cmd.Env, m.more...)
	return unit{program.StartCommand(m.t, cmd), told}
}

// restart ends a process as systemd does, and starts the next one when it is gone.
func (m *manager) restart(u unit, args ...string) unit {
	m.t.Helper()
	u.Signal(syscall.SIGTERM)
	if code := u.End(); code != 0 {
		m.t.Fatalf("it ended with code %d:\n%s", code, u.Output())
	}
	next := m.start(args...)
	next.told.await("READY=1")
	return next
}

// notices are the datagrams of a process to its manager, each with some lines.
type notices struct {
	t    *testing.T
	path string
	mu   sync.Mutex
	all  []string
	more chan struct{} // closed and replaced with each datagram
}

func newNotices(t *testing.T) *notices {
	t.Helper()
	dir, err := os.MkdirTemp("", "notices") // short, because the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	n := &notices{t: t, path: filepath.Join(dir, "socket"), more: make(chan struct{})}
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: n.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		socket.Close()
		<-done
		os.RemoveAll(dir)
	})
	go func() {
		defer close(done)
		datagram := make([]byte, 64<<10)
		for {
			size, err := socket.Read(datagram)
			if err != nil {
				return
			}
			n.mu.Lock()
			n.all = append(n.all, string(datagram[:size]))
			close(n.more)
			n.more = make(chan struct{})
			n.mu.Unlock()
		}
	}()
	return n
}

// await returns the first datagram that contains text. awaitFrom skips the first ones, and also returns how many there
// are now.
func (n *notices) await(text string) string {
	n.t.Helper()
	found, _ := n.awaitFrom(0, text)
	return found
}

func (n *notices) awaitFrom(from int, text string) (found string, next int) {
	n.t.Helper()
	limit := time.After(server.Patience)
	for {
		n.mu.Lock()
		all, more := n.all, n.more
		n.mu.Unlock()
		for i := from; i < len(all); i++ {
			if strings.Contains(all[i], text) {
				return all[i], i + 1
			}
		}
		select {
		case <-more:
		case <-limit:
			n.t.Fatalf("the manager was not told %q; it was told %q", text, all)
		}
	}
}

package server

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Pooler runs PgBouncer in transaction mode in front of a URL, with this number of server connections for all clients.
// The lines in more override those of its section [pgbouncer]. Without PgBouncer the test is skipped, or fails with
// PGFLURRY_TEST_POOLER=1.
func Pooler(t testing.TB, upstream string, connections int, more ...string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !exists(program) {
			if os.Getenv("PGFLURRY_TEST_POOLER") == "1" {
				t.Fatal("pgbouncer is not installed: apt-get install pgbouncer")
			}
			t.Skip("pgbouncer is not installed, and PGFLURRY_TEST_POOLER is not 1")
		}
	}
	to := Parse(t, upstream)
	password := ""
	if secret, given := to.User.Password(); given {
		password = " password=" + secret
	}
	dir, err := os.MkdirTemp("/tmp", "pgflurry-pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	port := FreePort(t)
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 2000
%s
`, to.Hostname(), to.Port(), to.User.Username(), password, port, connections, strings.Join(more, "\n"))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(program, config)
	process.SysProcAttr = nobody(t)
	log, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGQUIT)
		_ = process.Wait()
	})
	listens := make(chan error, 1)
	go untilUp(log, listens)
	select {
	case err := <-listens:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(Patience):
		t.Fatal("pgbouncer does not say that it is up")
	}
	to.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return to.String()
}

// untilUp reads PgBouncer's log to its end. It reports when PgBouncer says that it is up; PgBouncer listens before
// that.
func untilUp(log io.Reader, listens chan<- error) {
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "process up") {
			listens <- nil
			break
		}
		all.WriteString(lines.Text() + "\n")
	}
	select {
	case listens <- fmt.Errorf("pgbouncer has ended:\n%s", all.String()):
	default:
	}
	_, _ = io.Copy(io.Discard, log)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// nobody says how to run a program that refuses to run as root.
func nobody(t testing.TB) *syscall.SysProcAttr {
	t.Helper()
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return attr
	}
	who, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr
}

// FreePort returns a port that nobody uses at the moment. It is below the ports that the system gives to connections,
// because a connection might take one of those at any moment.
func FreePort(t testing.TB) int {
	t.Helper()
	const lowest, first = 10_000, 32_768 // first: net.ipv4.ip_local_port_range of Linux
	for range 100 {
		port := lowest + rand.IntN(first-lowest)
		ln, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			ln.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

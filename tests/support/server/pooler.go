package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
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
	to := Parse(t, upstream)
	port, _ := startPooler(t, "* = "+target(to), append([]string{
		"pool_mode = transaction", fmt.Sprintf("default_pool_size = %d", connections),
	}, more...)...)
	to.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return to.String()
}

// An Alias is a name of a database at a PgBouncer in session mode.
type Alias struct {
	t       testing.TB
	name    string
	config  string
	process *os.Process
	up      <-chan struct{} // receives when a new configuration is in force
}

// PoolerOf runs PgBouncer in session mode, with one alias for the database of a URL. It returns the URL of the alias.
func PoolerOf(t testing.TB, name, upstream string) (*Alias, string) {
	t.Helper()
	to := Parse(t, upstream)
	port, p := startPooler(t, name+" = "+target(to)+" dbname="+Name(t, upstream),
		"pool_mode = session", "default_pool_size = 100")
	to.Host, to.Path = net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), "/"+name
	return &Alias{t: t, name: name, config: p.config, process: p.process, up: p.reloads}, to.String()
}

// Lead points the alias to another database, as an operator does: the file, then RELOAD. Sessions stay where they are.
func (a *Alias) Lead(upstream string) {
	a.t.Helper()
	text, err := os.ReadFile(a.config)
	if err != nil {
		a.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "[pgbouncer]")
	line := a.name + " = " + target(Parse(a.t, upstream)) + " dbname=" + Name(a.t, upstream)
	if err := os.WriteFile(a.config, []byte("[databases]\n"+line+"\n[pgbouncer]"+rest), 0o644); err != nil {
		a.t.Fatal(err)
	}
	if err := a.process.Signal(syscall.SIGHUP); err != nil {
		a.t.Fatal(err)
	}
	select {
	case <-a.up:
	case <-time.After(Patience):
		a.t.Fatal("pgbouncer does not say that it has read its configuration again")
	}
}

// target is a database of PgBouncer's configuration, without its name.
func target(to *url.URL) string {
	password := ""
	if secret, given := to.User.Password(); given {
		password = " password=" + secret
	}
	return fmt.Sprintf("host=%s port=%s user=%s%s", to.Hostname(), to.Port(), to.User.Username(), password)
}

type pooler struct {
	config  string
	process *os.Process
	reloads <-chan struct{}
}

// startPooler runs PgBouncer with these databases and settings, and returns its port.
func startPooler(t testing.TB, databases string, settings ...string) (port int, p pooler) {
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
	dir := PublicDir(t)
	port = FreePort(t)
	p.config = filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
max_client_conn = 2000
%s
`, databases, port, strings.Join(settings, "\n"))
	if err := os.WriteFile(p.config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(program, p.config)
	process.SysProcAttr = nobody(t)
	log, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	p.process = process.Process
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGQUIT)
		_ = process.Wait()
	})
	listens, reloads := make(chan error, 1), make(chan struct{}, 1)
	p.reloads = reloads
	go followPooler(log, listens, reloads)
	select {
	case err := <-listens:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(Patience):
		t.Fatal("pgbouncer does not say that it is up")
	}
	return port, p
}

// followPooler reads PgBouncer's log to its end. It reports when PgBouncer says that it is up; PgBouncer listens before
// that. It also reports each time that PgBouncer has read its configuration again.
func followPooler(log io.Reader, listens chan<- error, reloads chan<- struct{}) {
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		switch text := lines.Text(); {
		case strings.Contains(text, "process up"):
			listens <- nil
		case strings.Contains(text, "SIGHUP"):
			select {
			case reloads <- struct{}{}:
			default:
			}
		default:
			all.WriteString(text + "\n")
		}
	}
	select {
	case listens <- fmt.Errorf("pgbouncer has ended:\n%s", all.String()):
	default:
	}
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

package leasing

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgflurry/lease"
)

// pooled runs PgBouncer in transaction mode, with one server connection for everybody, in front of a URL. Where it is not
// installed the test is skipped, unless PGFLURRY_TEST_POOLER=1 asks for it.
func pooled(t *testing.T, upstream string) string {
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
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "pgflurry-pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	port := freePort(t)
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 1
`, to.Hostname(), to.Port(), to.User.Username(), port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	process := exec.Command(program, config)
	process.Stderr = &log
	process.SysProcAttr = nobody(t)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGQUIT)
		_ = process.Wait()
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	deadline := time.Now().Add(20 * time.Second)
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("pgbouncer does not listen: %v\n%s", err, log.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	to.Host = address
	return to.String()
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// nobody is how to run a program that refuses root.
func nobody(t *testing.T) *syscall.SysProcAttr {
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

func TestALeaseWorksThroughAPoolerInTransactionModeAndLeavesNothingInItsSessions(t *testing.T) {
	r := newRoom(t, small)
	r.do("ALTER DATABASE " + ask[string](r, "SELECT current_database()") + " SET synchronous_commit = off")
	through := pooled(t, r.url)
	const settings = "SELECT concat_ws(' ', current_setting('synchronous_commit'), current_setting('lock_timeout'), current_setting('search_path'), pg_backend_pid())"
	pool := enterBare(t, through+"&default_query_exec_mode=exec")
	before := ask[string](pool, settings)

	// several holders share the one connection of the pool
	var all sync.WaitGroup
	for i := range 4 {
		s, request, ctx := r.store(through), r.request(fmt.Sprint("node ", i)), r.context()
		all.Go(func() {
			defer s.Close()
			a, err := s.Acquire(ctx, request)
			for errors.Is(err, lease.ErrBlocked) {
				a, err = s.Acquire(ctx, request)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for range 10 {
				renewed, err := s.Renew(ctx, renewal(a, a.Grant.Until+1000))
				if err != nil {
					t.Error(err)
					return
				}
				a.Grant.Until = renewed.Until
			}
			if err := s.Release(ctx, a.Lease, a.Grant.Until); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE released_at IS NOT NULL AND term = 1"); n != 4 {
		t.Errorf("%d workers were used and released, expected 4", n)
	}
	if after := ask[string](pool, settings); after != before {
		t.Errorf("the pool's session had settings %q, now %q", before, after)
	}
	pool.conn.Close(pool.context())
}

package leasing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/lease"
	"pgflurry/postgres"
	"pgflurry/tests/server"
)

// A standby that has everything up to its making and nothing after it: what is promoted when replication is asynchronous.
type standby struct {
	url  string
	port int
}

// makeStandby copies the cluster as it is now and runs the copy as a standby that gets nothing more.
func makeStandby(t *testing.T, primary *postgres.Cluster) *standby {
	t.Helper()
	binaries := server.Binaries(t)
	owner := ownerOf(t, primary.Data)
	data := filepath.Join(filepath.Dir(primary.Data), "standby")
	port := freePort(t)
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(binaries.Dir, name), args...)
		cmd.SysProcAttr = owner
		cmd.Dir = filepath.Dir(primary.Data)
		return cmd
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if c := owner.Credential; c != nil {
		if err := os.Chown(data, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	backup := run("pg_basebackup", "--no-sync", "--checkpoint=fast", "--wal-method=stream", "-D", data, "-d", primary.URL("postgres"))
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	process := run("postgres", "-D", data, "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1", "-k", data, "-c", "fsync=off", "-c", "max_connections=200")
	process.Stderr = &log
	process.SysProcAttr.Setpgid = true
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGQUIT)
		_ = process.Wait()
	})
	s := &standby{url: strings.Replace(primary.URL("postgres"), fmt.Sprint(":", primary.Port, "/"), fmt.Sprint(":", port, "/"), 1), port: port}
	deadline := time.Now().Add(20 * time.Second)
	for {
		conn, err := pgx.Connect(t.Context(), s.url)
		if err == nil {
			conn.Close(t.Context())
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the standby does not start: %v\n%s", err, log.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ownerOf is how to run a program as the owner of a folder, which matters where root runs the tests.
func ownerOf(t *testing.T, path string) *syscall.SysProcAttr {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{}
	if stat := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && stat.Uid != 0 {
		attr.Credential = &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
	}
	return attr
}

func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func TestOfSeveralHostsAStandbyIsPassedOver(t *testing.T) {
	cluster, r := ownServer(t, small)
	spare := makeStandby(t, cluster)
	both := fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=postgres sslmode=disable", spare.port, cluster.Port)
	r.acquire(r.store(both), "a")

	only := r.store(spare.url)
	if _, err := only.Acquire(r.context(), r.request("a")); err == nil || errors.As(err, new(*lease.Refusal)) {
		t.Errorf("a standby alone: error %v, expected an unknown outcome", err)
	}
}

func TestInvariants4And6AFailoverThatForgetsAcknowledgedCommitsGivesNoTickTwice(t *testing.T) {
	cluster, r := ownServer(t, small)
	// the lease reaches whichever server is the primary
	var port atomic.Int32
	port.Store(int32(cluster.Port))
	moving := func() *lease.Postgres {
		config, err := pgconn.ParseConfig(r.url)
		if err != nil {
			t.Fatal(err)
		}
		config.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, fmt.Sprint("127.0.0.1:", port.Load()))
		}
		s := lease.NewPostgres(config)
		t.Cleanup(s.Close)
		return s
	}
	early, late := moving(), moving()
	renewedEarly := r.acquire(early, "early")

	spare := makeStandby(t, cluster)

	// all of this is acknowledged, and none of it reaches the standby
	renewedEarly.Grant.Until = r.renew(early, renewal(renewedEarly, never)).Until
	acquiredLate := r.acquire(late, "late")
	acquiredLate.Grant.Until = r.renew(late, renewal(acquiredLate, never)).Until

	if err := cluster.Stop(r.context()); err != nil {
		t.Fatal(err)
	}
	r.conn = server.Connect(t, spare.url)
	r.do("SELECT pg_promote()")
	port.Store(int32(spare.port))

	for _, s := range []*lease.Postgres{early, late} { // the connections to the old primary are dead
		_, _ = s.Renew(r.context(), renewal(renewedEarly, never))
	}
	var lost *lease.Lost
	if _, err := early.Renew(r.context(), renewal(renewedEarly, never)); !errors.As(err, &lost) || !lost.CommitLost() {
		t.Errorf("renewal of a mark that was forgotten: %v", err)
	}
	if _, err := late.Renew(r.context(), renewal(acquiredLate, never)); !errors.As(err, &lost) || !lost.Taken {
		t.Errorf("renewal of a lease that was forgotten: %v", err)
	}
	// both may finish their grants, so nobody else may begin before
	fresh := moving()
	var refusal *lease.Refusal
	if _, err := fresh.Acquire(r.context(), r.request("fresh")); !errors.As(err, &refusal) || refusal.Reason != lease.GateClosed {
		t.Fatalf("acquire after the failover: %v", err)
	}
	if refusal.Until < renewedEarly.Grant.Until || refusal.Until < acquiredLate.Grant.Until {
		t.Errorf("the gate opens at %d; grants end at %d and %d", refusal.Until, renewedEarly.Grant.Until, acquiredLate.Grant.Until)
	}
	r.pass(quarantine + 5*time.Second) // the first window of the renewal that was forgotten
	for range 7 {
		a := r.acquire(fresh, "fresh")
		if a.Grant.From < renewedEarly.Grant.Until || a.Grant.From < acquiredLate.Grant.Until {
			t.Errorf("worker %d is granted from %d", a.Worker, a.Grant.From)
		}
	}
}

//go:build unix

package node_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/config"
	"pgflurry/internal/fault"
	"pgflurry/internal/node"
	"pgflurry/tests/support/server"
)

// closed is the connection string of a server that does not exist.
const closed = "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable"

func TestInvariant1WhereNewFailsNothingIsLeft(t *testing.T) {
	server.NoLeak(t)
	own := net.JoinHostPort("127.0.0.1", strconv.Itoa(server.FreePort(t)))
	operators := net.JoinHostPort("127.0.0.1", strconv.Itoa(server.FreePort(t)))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for says, change := range map[string]func(*config.Given){
		"--listen is missing":         func(s *config.Given) { s.Listen = "" },
		"--upstream is missing":       func(s *config.Given) { s.Upstream = "" },
		"--lease-database is missing": func(s *config.Given) { s.LeaseDatabase = "" },
		"--node is missing":           func(s *config.Given) { s.Name = "" },
		"--window is 10ms":            func(s *config.Given) { s.Window = 10 * time.Millisecond },
		"--window is 24h0m0.001s":     func(s *config.Given) { s.Window = 24*time.Hour + time.Millisecond },
		"--drain-timeout is -1s":      func(s *config.Given) { s.DrainTimeout = -time.Second },
		"--max-connections is -1":     func(s *config.Given) { s.Limits.MaxConnections = -1 },
		"--client-tls-cert":           func(s *config.Given) { s.TLS.ClientCert, s.TLS.ClientKey = "/none", "/none" },
		"own --listen":                func(s *config.Given) { s.Upstream = own },
		"--admin-listen ":             func(s *config.Given) { s.AdminListen = taken.Addr().String() },
		"--listen ":                   func(s *config.Given) { s.AdminListen = own },
	} {
		s := config.Given{
			Settings: config.Settings{Name: "n", Window: time.Minute},
			Listen:   own, Upstream: "127.0.0.1:1", LeaseDatabase: closed,
		}
		s.AdminListen = operators
		change(&s)
		if n, err := opened(s); n != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v and %v; expected no node, and an error with %q", n, err, says)
		}
		for _, address := range []string{own, operators} {
			ln, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatalf("%s: something listens: %v", says, err)
			}
			ln.Close()
		}
	}
}

func TestInvariant2WithoutALeaseDatabaseClientsAreRelayed(t *testing.T) {
	server.NoLeak(t)
	s := settings(t, server.Migrated(t), "unleased")
	direct := s.LeaseDatabase
	s.LeaseDatabase = closed
	r := start(t, s)
	r.direct = direct
	r.log.await(t, "no worker is leased")
	if id, worker := draw(t, r.connect(t)); worker != functionWorker {
		t.Errorf("ID %d is of worker %d; expected the function's", id, worker)
	}
	if err := r.end(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestInvariant3OnlyWhatNoWaitingMendsEndsRun(t *testing.T) {
	server.NoLeak(t)
	t.Run("a window that the namespace does not allow", func(t *testing.T) {
		const says = "--window is 1h0m0s, but the namespace's max_window is 1m0s"
		s := settings(t, server.Migrated(t), "window")
		s.Window = time.Hour
		if err := start(t, s).result(t); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("a database of another namespace", func(t *testing.T) {
		s, other := settings(t, server.Migrated(t), "mismatch"), server.Parse(t, server.Migrated(t)).Path[1:]
		s.Databases = []string{other}
		err := start(t, s).result(t)
		if err == nil || !strings.Contains(err.Error(), other) || !strings.Contains(fault.HintOf(err), "--databases") {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestInvariant4IDsAreGivenUntilTheLastSessionIsDrainedAndOnlyThenTheWorkerIsReleased(t *testing.T) {
	server.NoLeak(t)
	r := start(t, settings(t, server.Migrated(t), "draining"))
	r.answers(t)
	direct, busy := server.Connect(t, r.direct), r.connect(t)
	released := func() bool {
		const statement = "SELECT released_at IS NOT NULL FROM pgflurry.worker WHERE node = 'draining'"
		return server.Value[bool](t, direct, statement)
	}
	server.Do(t, busy, "BEGIN")
	r.stop()
	r.log.await(t, "msg=draining")
	if id, worker := draw(t, busy); worker == functionWorker {
		t.Errorf("ID %d in the last transaction is of the function", id)
	}
	if released() {
		t.Error("the worker was released before the last session had ended")
	}
	server.Do(t, busy, "COMMIT")
	if err := r.result(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if !released() {
		t.Error("the worker is not released")
	}
}

func TestInvariant5WhenRunHasReturnedNothingIsLeft(t *testing.T) {
	server.NoLeak(t)
	r := start(t, settings(t, server.Migrated(t), "whole"))
	r.answers(t)
	conn := r.connect(t)
	if id, worker := draw(t, conn); worker == functionWorker {
		t.Errorf("ID %d is of the function; expected one from memory", id)
	}
	const count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
	if sessions := server.Value[int64](t, conn, count); sessions < 2 {
		t.Errorf("%d sessions; expected the node's own beside the client's", sessions)
	}
	if err := r.end(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if c, err := net.Dial("tcp", r.Addr().String()); err == nil {
		c.Close()
		t.Error("something listens still")
	}
	direct := server.Connect(t, r.direct)
	server.Eventually(t, direct, `NOT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend')`)
	text, _ := r.log.read()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !strings.Contains(lines[len(lines)-1], "msg=ended") {
		t.Errorf("the last line is not of the end:\n%s", text)
	}
}

func TestInvariant6NodesOfOneProcessShareNothing(t *testing.T) {
	server.NoLeak(t)
	direct := server.Migrated(t)
	first, second := start(t, settings(t, direct, "first")), start(t, settings(t, direct, "second"))
	first.answers(t)
	second.answers(t)
	of := func(r *running) int64 {
		_, worker := draw(t, r.connect(t))
		return worker
	}
	if a, b := of(first), of(second); a == b || a == functionWorker || b == functionWorker {
		t.Errorf("the workers are %d and %d", a, b)
	}
	if err := first.end(t); err != nil {
		t.Error(err)
	}
	if worker := of(second); worker == functionWorker {
		t.Error("the end of one has ended the other's IDs")
	}
	for _, name := range []string{"first", "second"} {
		r := map[string]*running{"first": first, "second": second}[name]
		if text, _ := r.log.read(); strings.Contains(text, "msg=ended") != (name == "first") {
			t.Errorf("the log of the %s one is not its own:\n%s", name, text)
		}
	}
}

func TestAFileThatIsNoSocketIsNotTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ln, err := node.Listen(socketAt(path), 0); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("%v and %v; expected that the file is no socket", ln, err)
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file holds %q: %v", text, err)
	}
}

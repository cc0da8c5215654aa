package faults

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A trouble is one fault, from its begin to its end.
type trouble struct {
	what   string
	happen func(*storm)
}

var troubles = []trouble{
	{"a proxy is killed, another takes its place", (*storm).killProxy},
	{"a proxy ends in order, another takes its place", (*storm).endProxy},
	{"a proxy is stopped while another takes its worker", (*storm).stopProxy},
	{"the network of a lease is silent while another takes the worker", (*storm).silentLease},
	{"answers to a lease are lost", (*storm).lostAnswers},
	{"the network of the database is cut for a moment", (*storm).cutDatabase},
	{"a worker's row is locked until another is taken", (*storm).lockRow},
	{"sessions are stopped, cancelled and terminated", (*storm).harass},
	{"sessions that draw and read nothing", (*storm).deafen},
	{"a backend dies, the server recovers", (*storm).killBackend},
	{"the server is shut down at once and started again", (*storm).crashServer},
	{"failover to a synchronous standby", func(s *storm) { s.failOver(true) }},
	{"failover to a standby that has not heard the last of it", func(s *storm) { s.failOver(false) }},
}

func (s *storm) killProxy() {
	n := s.anyNode()
	n.proxy.Signal(syscall.SIGKILL)
	n.proxy.End()
	s.start(n)
}

func (s *storm) endProxy() {
	n := s.anyNode()
	n.proxy.Signal(syscall.SIGTERM)
	if code := n.proxy.End(); code != 0 {
		s.t.Errorf("the proxy ended with %d", code)
	}
	s.start(n)
}

// held is the worker that a node has, as the rows tell.
func (s *storm) held(n *node) (worker int64) {
	s.t.Helper()
	return ask[int64](s.room, "SELECT worker FROM pgflurry.worker WHERE node = $1 ORDER BY acquired_at DESC LIMIT 1",
		n.name)
}

// passed waits until a worker's mark and quarantine have passed.
func (s *storm) passed(worker int64) {
	s.t.Helper()
	s.until(`SELECT w.reserved_until + pgflurry.ticks_of(n.quarantine) < pgflurry.ticks(clock_timestamp())
		FROM pgflurry.worker w, pgflurry.namespace n WHERE w.worker = $1`, worker)
}

func (s *storm) stopProxy() {
	n := s.anyNode()
	worker := s.held(n)
	n.proxy.Signal(syscall.SIGSTOP)
	s.passed(worker)
	end := s.usurp(n)
	n.proxy.Signal(syscall.SIGCONT) // its clients wait: it answers them before it learns anything
	end()
}

func (s *storm) silentLease() {
	n := s.anyNode()
	worker := s.held(n)
	n.lease.Silence()
	s.passed(worker)
	end := s.usurp(n) // while the clients of the first one draw on
	end()
	n.lease.Heal()
}

// usurp starts another proxy of the same node, which is given the node's last worker, and draws from it;
// more until end.
func (s *storm) usurp(n *node) (end func()) {
	s.t.Helper()
	twin := program.ServeUnleased(s.t, s.through, n.name, short, "--drain-timeout", "1s")
	twin.Leased()
	conn := s.again(twin.URL)
	draw := func() {
		s.t.Helper()
		for range 30 {
			rows, _ := conn.Query(context.Background(), "SELECT * FROM next_snowflakes(10000)",
				pgx.QueryExecModeSimpleProtocol)
			ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil {
				s.t.Fatal(err)
			}
			s.record(ofProxy, ids)
		}
	}
	draw()
	return func() {
		draw()
		twin.Signal(syscall.SIGTERM)
		twin.End()
	}
}

// lostAnswers lets about three renewals through on each connection, and ends the next one's answer somewhere.
func (s *storm) lostAnswers() {
	n := s.anyNode()
	printed := n.proxy.Printed()
	n.lease.CutAnswers(1500 + s.dice.IntN(1500))
	n.proxy.LineFrom(printed, "the database does not acknowledge")
	n.lease.Heal()
}

func (s *storm) cutDatabase() {
	s.database.Lead("")
	s.drawMany(1000)
	s.database.Lead(fmt.Sprint("127.0.0.1:", s.cluster.Port))
}

func (s *storm) lockRow() {
	n := s.anyNode()
	printed := n.proxy.Printed()
	s.do("BEGIN")
	s.do("SELECT FROM pgflurry.worker WHERE worker = $1 FOR UPDATE", s.held(n))
	n.proxy.LineFrom(printed, "worker acquired")
	s.do("ROLLBACK")
}

func (s *storm) harass() {
	for range 60 {
		pid := s.victim()
		if pid == 0 {
			continue
		}
		switch s.dice.IntN(6) {
		case 0:
			s.do("SELECT pg_terminate_backend($1)", pid)
		case 1, 2:
			s.do("SELECT pg_cancel_backend($1)", pid)
		default:
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			// how long it is stopped
			server.Pause(context.Background(), time.Duration(s.dice.IntN(60))*time.Millisecond)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// deafen has a few sessions whose backends wait for them.
func (s *storm) deafen() {
	for range 3 {
		hangUp, err := server.Deaf(context.Background(), s.cluster.URL("postgres"))
		if err != nil {
			s.t.Error(err)
			return
		}
		defer hangUp()
	}
	s.until("SELECT (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite') >= 3")
}

// victim is a client's backend; 0 if it has just ended.
func (s *storm) victim() int {
	s.t.Helper()
	pid := ask[int](s.room, `SELECT coalesce((SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1), 0)`)
	if !server.IsBackend(s.cluster, pid) {
		return 0
	}
	return pid
}

// killBackend makes the server end all sessions at once and recover from its log, as after a lack of memory.
func (s *storm) killBackend() {
	begun := ask[time.Time](s.room, "SELECT pg_postmaster_start_time()")
	for {
		pid := s.victim()
		if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
			continue
		}
		if _, err := s.conn.Exec(context.Background(), "SELECT pg_sleep(5)"); err != nil {
			break // else it was at its end anyway
		}
	}
	s.conn = s.again(s.direct)
	if now := ask[time.Time](s.room, "SELECT pg_postmaster_start_time()"); !now.Equal(begun) {
		s.t.Errorf("the postmaster of %v is now one of %v", begun, now)
	}
}

func (s *storm) crashServer() {
	server.Crash(s.t, s.cluster)
	s.gone()
	again := server.Again(s.t, s.cluster.Data, 0, stormOptions) // its port may be somebody's by now
	s.visit(again.URL("postgres"))
	s.below()
	s.primary(again)
}

// failOver crashes the primary and promotes a standby, which is made now. A synchronous one has every acknowledged
// commit; the other one misses what came after it was made.
func (s *storm) failOver(synchronous bool) {
	s.standbys++
	name := fmt.Sprint("standby", s.standbys)
	source := ""
	if synchronous {
		source = fmt.Sprintf("host=127.0.0.1 port=%d", s.cluster.Port)
	}
	standby := server.Standby(s.t, s.cluster, name, source, stormOptions)
	if synchronous {
		s.do("ALTER SYSTEM SET synchronous_standby_names = " + name)
		s.do("SELECT pg_reload_conf()")
		s.until("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
	}
	s.drawMany(2000)
	server.Crash(s.t, s.cluster)
	s.gone()
	old := s.cluster
	s.visit(standby.URL("postgres"))
	if !ask[bool](s.room, "SELECT pg_promote()") {
		s.t.Fatal("the standby was not promoted")
	}
	if synchronous {
		s.below()
	} else {
		s.forget()
	}
	if synchronous { // the setting came with the files
		s.do("ALTER SYSTEM RESET synchronous_standby_names")
		s.do("SELECT pg_reload_conf()")
		s.until("SELECT current_setting('synchronous_standby_names') = ''")
	}
	s.primary(standby)
	if err := os.RemoveAll(old.Data); err != nil { // a long storm makes many
		s.t.Error(err)
	}
}

package unique

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A trouble is one fault, from its beginning to its end.
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

// held returns the worker of a node, as the table says.
func (s *storm) held(n *node) (worker int64) {
	s.t.Helper()
	return ask[int64](s.room, "SELECT worker FROM pgflurry.worker WHERE node = $1 ORDER BY acquired_at DESC LIMIT 1",
		n.name)
}

// passed waits until the mark and the quarantine of a worker have passed.
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
	end := s.usurp(n.name)
	n.proxy.Signal(syscall.SIGCONT) // it first answers the draws that wait in its sockets, before it hears of the loss
	end()
}

func (s *storm) silentLease() {
	n := s.anyNode()
	worker := s.held(n)
	n.lease.Silence()
	s.passed(worker)
	end := s.usurp(n.name) // the clients of the first proxy still draw
	end()
	n.lease.Heal()
}

// usurp starts another proxy with a node's name, which gets that node's last worker, and draws from it. end draws once
// more and stops that proxy.
func (s *storm) usurp(node string) (end func()) {
	s.t.Helper()
	twin := program.ServeUnleased(s.t, s.through, node, s.window, "--drain-timeout", "1s")
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

// lostAnswers lets about three renewals pass on each connection and then cuts the connection within an answer.
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
	s.database.Lead(s.balancer.Address())
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
			// for up to 60 ms
			server.Pause(context.Background(), time.Duration(s.dice.IntN(60))*time.Millisecond)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// deafen opens a few sessions that draw and never read, so that their backends wait for them.
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

// victim returns the PID of a client's backend, or 0 if that has just ended.
func (s *storm) victim() int {
	s.t.Helper()
	pid := ask[int](s.room, `SELECT coalesce((SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1), 0)`)
	if !server.IsBackend(s.cluster, pid) {
		return 0
	}
	return pid
}

// killBackend kills a backend, as the kernel does when memory runs out. The server ends all sessions and recovers from
// its log.
func (s *storm) killBackend() {
	begun := ask[time.Time](s.room, "SELECT pg_postmaster_start_time()")
	for {
		pid := s.victim()
		if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
			continue
		}
		if _, err := s.conn.Exec(context.Background(), "SELECT pg_sleep(5)"); err != nil {
			break // the backend was at its end anyway if nothing happens
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
	again := server.Again(s.t, s.cluster.Data, 0, stormOptions) // another process may have taken its port
	s.switchTo(again.URL("postgres"))
	s.below()
	s.primary(again)
}

// failOver makes a standby, crashes the primary and promotes the standby. A synchronous standby has every acknowledged
// commit. The other kind misses all commits since it was made.
func (s *storm) failOver(synchronous bool) {
	name := s.copyName()
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
	s.switchTo(standby.URL("postgres"))
	server.Promote(s.t, standby)
	if synchronous {
		s.below()
	} else {
		s.forget()
	}
	if synchronous { // the base backup had the setting, too
		s.do("ALTER SYSTEM RESET synchronous_standby_names")
		s.do("SELECT pg_reload_conf()")
		s.until("SELECT current_setting('synchronous_standby_names') = ''")
	}
	s.primary(standby)
	s.remove(old)
}

func (s *storm) copyName() string {
	s.copies++
	return fmt.Sprint("standby", s.copies)
}

// remove deletes the files of a server that has ended: a long storm makes many.
func (s *storm) remove(cluster *postgres.Cluster) {
	if err := os.RemoveAll(cluster.Data); err != nil {
		s.t.Error(err)
	}
}

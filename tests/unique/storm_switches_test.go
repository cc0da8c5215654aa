//go:build full

package unique

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// The rows go back, or another database takes their place. So the windows are longer than a start of a server takes:
// proxies still use grants that it does not know.
func TestInAStormOfSwitchesNoIDOfProxiesOrFunctionComesTwice(t *testing.T) {
	t.Parallel()
	s := newStorm(t, "--window=2s")
	s.do("UPDATE pgflurry.namespace SET quarantine = '2.2 s'")
	s.do("UPDATE pgflurry.namespace SET max_window = '2 s', restart_quarantine = NULL")
	// for a minute after a switch a proxy answers nothing from memory, and its ID database does
	s.wanted = func(int64) bool { return true }
	s.join()
	list := switches
	if server.Storm(t) > 0 {
		list = append(append([]trouble(nil), switches...), troubles...)
	}
	s.rage(list)
}

// switches are faults after which an address leads elsewhere, or a server has gone back in time. Each ends with a proxy
// in another's place: that one answers from memory at once.
var switches = []trouble{
	{"the database is closed, and takes its own place", (*storm).closeAndTakeBack},
	{"the database is closed, and another server takes its place", (*storm).moveAway},
	{"the address leads to a database that has joined, and back", (*storm).leadAstray},
	{"failover, and back to the old primary as it was", (*storm).failBack},
	{"a standby becomes primary without a promotion", (*storm).removeSignal},
	{"the database is restored in place", (*storm).restoreInPlace},
}

func (s *storm) closeAndTakeBack() {
	s.do("CALL pgflurry.close_database()")
	s.refused()
	s.spent()
	s.run(program.Path(s.t), "namespace", "move", "--no-other-draws", "--database", s.direct)
	s.endProxy()
}

// refused wants the function to say that the database is closed.
func (s *storm) refused() {
	s.t.Helper()
	id, err := one(s.conn)
	if said, is := errors.AsType[*pgconn.PgError](err); !is || said.Code != "SNF04" {
		s.t.Errorf("a closed database gives %d and says %v, expected SNF04", id, err)
	}
}

// moveAway is the row "blue/green" of docs/copies.md. Connections stay at the old server until all others are at
// the new one.
func (s *storm) moveAway() {
	blue, green := s.cluster, server.Private(s.t, stormOptions)
	s.run(program.Path(s.t), "namespace", "close", "--wait", "--database", s.direct)
	s.refused()
	s.below()
	file := filepath.Join(s.t.TempDir(), "schema.sql")
	s.run(server.Tool(s.t, "pg_dump"), "--schema=pgflurry", "--file", file, s.direct)
	s.run(server.Tool(s.t, "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", file, green.URL("postgres"))
	s.run(program.Path(s.t), "namespace", "move", "--no-other-draws", "--database", green.URL("postgres"))
	s.switchTo(green.URL("postgres"))
	s.do(itemTable)
	s.primary(green)
	if s.pooler != "" { // it keeps connections to blue, as docs/network.md says
		server.Exec(s.t, s.pooler, "RECONNECT")
	}
	s.drawMany(100_000)
	s.everybody()
	server.Crash(s.t, blue)
	s.remove(blue)
	s.endProxy()
}

// leadAstray leads new connections to another database of the ID space, which has no workers for proxies. Each time it
// ends the old connections, or leaves them where they are.
func (s *storm) leadAstray() {
	s.balancer.Lead(server.Parse(s.t, s.joined).Host)
	if s.dice.IntN(2) == 0 {
		s.database.Lead("")
		s.database.Lead(s.balancer.Address())
	}
	direct, relayed := s.again(s.through), s.again(*s.anyNode().url.Load())
	s.drawUntil(direct, s.by(joined))
	s.draw(relayed, 100)
	direct.Close(context.Background())
	relayed.Close(context.Background())
	s.database.Lead("") // no client stays there
	s.primary(s.cluster)
	s.endProxy()
}

// failBack fails over to a standby that misses the last commits. That one dies too, and the old primary starts as it
// was. Its timeline and its rows agree.
func (s *storm) failBack() {
	old := s.cluster
	standby := server.Standby(s.t, old, s.copyName(), "", stormOptions)
	s.drawMany(2000)
	server.Crash(s.t, old)
	s.gone()
	s.switchTo(standby.URL("postgres"))
	server.Promote(s.t, standby)
	s.forget()
	s.primary(standby)
	s.goBack(old.Data)
}

// removeSignal lets a standby that has heard nothing for a while become primary on the timeline that it has.
func (s *storm) removeSignal() {
	standby := server.Standby(s.t, s.cluster, s.copyName(), "", stormOptions)
	server.Stop(s.t, standby)
	if err := os.Remove(filepath.Join(standby.Data, "standby.signal")); err != nil {
		s.t.Error(err)
	}
	s.goBack(standby.Data)
}

// goBack lets proxies take workers, and then replaces the server by an older one with these files. Nobody waits for the
// grants that it has never seen.
func (s *storm) goBack(data string) {
	s.killProxy()
	s.endProxy()
	s.drawMany(2000)
	newer := s.cluster
	// mostly no proxy hears of its lease any more, so each uses up its grant
	silent := s.dice.IntN(4) > 0
	for _, n := range s.nodes {
		if silent {
			n.lease.Silence()
		}
	}
	server.Crash(s.t, newer)
	s.database.Lead("")
	older := server.Again(s.t, data, 0, stormOptions)
	s.primary(older)
	s.newcomer()
	for _, n := range s.nodes {
		n.lease.Heal()
	}
	s.remove(newer)
	s.endProxy()
}

// restoreInPlace goes back to a dump of the same server.
func (s *storm) restoreInPlace() {
	file := filepath.Join(s.t.TempDir(), "dump")
	s.run(server.Tool(s.t, "pg_dump"), "--format=custom", "--exclude-table-data=item", "--file", file, s.direct)
	s.killProxy()
	s.endProxy()
	s.run(server.Tool(s.t, "pg_restore"), "--clean", "--if-exists", "--dbname", s.direct, file)
	s.run(program.Path(s.t), "namespace", "move", "--database", s.direct)
	s.newcomer()
	s.endProxy()
}

// newcomer is a proxy that gets a worker by the rows of an older history. It never had one. So it gets the one that has
// rested for longest. Marks that this history lacks are forgotten.
func (s *storm) newcomer() {
	s.t.Helper()
	s.usurp("newcomer of " + s.copyName())()
	s.forget()
}

// run runs a program, which must succeed.
func (s *storm) run(name string, args ...string) {
	s.t.Helper()
	p := program.StartCommand(s.t, exec.Command(name, args...))
	if code := p.End(); code != 0 {
		s.t.Fatalf("%s %v ended with %d:\n%s", name, args, code, p.Output())
	}
}

// join makes a database of the same ID space on a server of its own, which has no fault.
func (s *storm) join() {
	s.t.Helper()
	s.joined = server.Private(s.t, stormOptions).URL("postgres")
	server.Migrate(s.t, s.joined, migrations.Settings{JoinURL: s.direct})
	server.Exec(s.t, s.joined, itemTable)
}

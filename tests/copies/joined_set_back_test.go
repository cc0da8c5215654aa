package copies

import (
	"os/exec"
	"strings"

	"pgflurry/migrations"
	"pgflurry/postgres"
	"pgflurry/tests/support/server"
)

// kept stops a server in order, keeps a copy of its files, and starts it again at its address. Such a copy has the
// unlogged sequences of the function, too.
func (s *story) kept(cluster *postgres.Cluster) (again *postgres.Cluster, snapshot string) {
	s.Helper()
	server.Stop(s, cluster)
	snapshot = cluster.Data + "-snapshot"
	out, err := exec.CommandContext(server.Within(s), "cp", "-a", cluster.Data, snapshot).CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return server.Again(s, cluster.Data, cluster.Port), snapshot
}

// joinedSetBack sets a joined database back twice. First it keeps its worker. Then it is back at a worker that it has
// left meanwhile.
func joinedSetBack(s *story) {
	home := s.migrated(migrations.Settings{})
	cluster := server.Private(s, nil)
	joined := cluster.URL("postgres")
	s.up(joined, migrations.Settings{JoinURL: home})
	s.draw(home, joined)
	for _, leave := range []bool{false, true} {
		again, snapshot := s.kept(cluster)
		s.draw(home, joined)
		left := -1
		if leave {
			left = s.worker(joined)
			s.up(joined, migrations.Settings{JoinURL: home, FreshWorker: true})
			s.draw(joined)
		}
		server.Crash(s, again)
		cluster = server.Again(s, snapshot, cluster.Port)
		said := s.says("workers", "reseed", "--yes", "--database", joined)
		if want := "pgflurry migrate up --database URL --join HOME --moved"; !strings.Contains(said, want) {
			s.Errorf("reseed does not say what to run for a joined database, want %s:\n%s", want, said)
		}
		s.command(0, "URL", joined, "HOME", home)
		if s.worker(joined) == left {
			s.Errorf("the database has worker %d again, which it had left", left)
		}
		s.drawsAbove(joined)
		s.draw(home, joined)
	}
}

//go:build full

package unique

import (
	"strings"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

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
		if want := "pgflurry namespace move --database URL --home HOME"; !strings.Contains(said, want) {
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

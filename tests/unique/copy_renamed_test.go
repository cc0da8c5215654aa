//go:build full

package unique

import (
	"os/exec"
	"strings"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// says runs the program, and returns all that it writes, whether it succeeds or not.
func (s *story) says(args ...string) string {
	s.Helper()
	out, _ := exec.CommandContext(server.Within(s), program.Path(s), args...).CombinedOutput()
	return string(out)
}

// renamed gives a database another name, and returns its new URL.
func (s *story) renamed(url, name string) string {
	s.Helper()
	server.Alone(s, url)
	admin := server.In(s, url, "postgres")
	server.Exec(s, admin, "ALTER DATABASE "+server.Name(s, url)+" RENAME TO "+name)
	s.Cleanup(func() { server.Exec(s, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return server.In(s, url, name)
}

func homeRenamed(s *story) {
	home, joined := s.migrated(migrations.Settings{}), server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	s.draw(home, joined)
	former := []string{server.Name(s, home), server.Name(s, joined)}
	home, joined = s.renamed(home, "copies_renamed_home"), s.renamed(joined, "copies_renamed_joined")
	s.draw(home, joined)
	said := s.says("workers", "list", "--database", joined)
	if !strings.Contains(said, "namespace join --database URL --home HOME") {
		s.Errorf("workers list names a home that is not there any more, and not what to run:\n%s", said)
	}
	s.command(0, "URL", joined, "HOME", home)
	s.draw(home, joined)
	for url, want := range map[string]string{
		joined: "/copies_renamed_home", // it has no worker rows, and says where they are
		home:   "copies_renamed_joined",
	} {
		said := s.says("workers", "list", "--database", url)
		if !strings.Contains(said, want) {
			s.Errorf("workers list does not name %s:\n%s", want, said)
		}
		for _, name := range former {
			if strings.Contains(said, name) {
				s.Errorf("workers list names %s, which does not exist any more:\n%s", name, said)
			}
		}
	}
	s.refusesUp(server.Database(s), migrations.Settings{JoinURL: joined}, "has no worker rows", "/copies_renamed_home")
}

//go:build full

package unique

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// asReplica returns a URL whose sessions have session_replication_role = replica, as those of many restore scripts.
func asReplica(url string) string {
	sign := "?"
	if strings.Contains(url, "?") {
		sign = "&"
	}
	return url + sign + "options=-c%20session_replication_role%3Dreplica"
}

func TestCommandsDoWhatTheySayInASessionThatLooksLikeASubscription(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home := s.migrated(migrations.Settings{})
	joined, own := server.TemplateCopy(s, home, "copies_replica_joined"),
		server.TemplateCopy(s, home, "copies_replica_own")
	s.up(asReplica(joined), migrations.Settings{JoinURL: asReplica(home)})
	s.up(asReplica(own), migrations.Settings{NewNamespace: true})
	s.draw(home, joined)
	space := func(url string) string {
		return server.Value[string](s, server.Connect(s, url), "SELECT id::text FROM pgflurry.namespace")
	}
	if space(own) == space(home) {
		t.Error("the copy with a namespace of its own has that of the original")
	}
	s.up(asReplica(joined), migrations.Settings{JoinURL: asReplica(home), FreshWorker: true})
	s.up(asReplica(home), migrations.Settings{JoinsComplete: true, MaxWindow: time.Hour})
	s.draw(home, joined)
	conn := server.Connect(s, home)
	s.shell("pgflurry workers retire 100 --database '" + asReplica(home) + "'")
	s.shell("pgflurry workers reseed --yes --database '" + asReplica(home) + "'")
	s.shell("pgflurry clients add shop --certificate-only --database '" + asReplica(home) + "'")
	if !server.Value[bool](s, conn, `SELECT n.max_window = '1 hour' AND n.quarantine > '1 hour'
			AND n.acquire_after > pgflurry.ticks(clock_timestamp())
			AND w.retired_at IS NOT NULL AND w.reserved_until > 0
		FROM pgflurry.namespace AS n, pgflurry.worker AS w WHERE w.worker = 100`) {
		t.Error("a command has not done what it said")
	}
	s.draw(home, joined)
}

func TestARoleWhoseSessionsLookLikeASubscriptionAndMustIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	s := plain(t)
	url := server.Database(t)
	owner := server.Role(t, url, "copies_replica")
	server.Exec(t, url, "GRANT CREATE ON DATABASE "+server.Name(t, url)+" TO copies_replica; "+
		"GRANT CREATE ON SCHEMA public TO copies_replica")
	s.up(owner, migrations.Settings{})
	server.Exec(t, url, "ALTER ROLE copies_replica SET session_replication_role = replica")
	s.refusesUp(owner, migrations.Settings{}, "session_replication_role = replica", `role "copies_replica"`,
		`ALTER ROLE "copies_replica" RESET session_replication_role`)
	server.Exec(t, url, "GRANT SET ON PARAMETER session_replication_role TO copies_replica")
	s.up(owner, migrations.Settings{})
}

// A trigger that returns NULL drops the write, and PostgreSQL reports neither an error nor a row.
func TestACommandWhoseWriteATriggerDroppedFails(t *testing.T) {
	t.Parallel()
	s := plain(t)
	up := func(settings migrations.Settings) func(url string) string {
		return func(url string) string {
			err := migrations.Up(server.Within(s), url, settings)
			return fmt.Sprint(err, "\n", server.Hint(err))
		}
	}
	workers := func(args ...string) func(url string) string {
		return func(url string) string {
			return s.says(append([]string{"workers", "--database", url}, args...)...)
		}
	}
	for _, c := range []struct {
		table   string // whose updates are dropped
		command func(url string) string
		said    string
	}{
		{"namespace", up(migrations.Settings{JoinsComplete: true}), "that no join is forgotten changed nothing"},
		{"namespace", up(migrations.Settings{MaxWindow: time.Hour}), "changing the quarantine changed nothing"},
		{"namespace", up(migrations.Settings{MaxWindow: 2 * time.Second}), "writing max_window changed nothing"},
		{"namespace", up(migrations.Settings{FreshWorker: true}), "taking worker 1 changed nothing"},
		{"namespace", up(migrations.Settings{NewNamespace: true, Copy: true}), "of its own changed nothing"},
		{"namespace", up(migrations.Settings{Moved: true}), "old grants have ended changed nothing"},
		{"namespace", workers("reseed", "--yes"), "reseeding left rows as they were"},
		{"worker", workers("reseed", "--yes"), "reseeding left rows as they were"},
		{"worker", workers("retire", "100"), "retiring worker 100 left rows as they were"},
	} {
		url := s.migrated(migrations.Settings{})
		server.Exec(t, url, `CREATE FUNCTION public.drops() RETURNS trigger LANGUAGE plpgsql
				AS 'BEGIN RETURN NULL; END';
			CREATE TRIGGER zz BEFORE UPDATE ON pgflurry.`+c.table+`
				FOR EACH ROW EXECUTE FUNCTION public.drops()`)
		said := c.command(url)
		for _, want := range []string{c.said, "that are not pgflurry's"} {
			if !strings.Contains(said, want) {
				t.Errorf("updates of %s are dropped, and a command does not say %q:\n%s", c.table, want, said)
			}
		}
	}
}

func TestAJoinWhoseWriteATriggerDroppedOnEitherSideFails(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home, joined := s.migrated(migrations.Settings{}), server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	drops := func(url, table, condition string) {
		server.Exec(t, url, `CREATE OR REPLACE FUNCTION public.drops() RETURNS trigger LANGUAGE plpgsql
				AS 'BEGIN RETURN NULL; END';
			CREATE TRIGGER zz BEFORE UPDATE ON pgflurry.`+table+` FOR EACH ROW WHEN (`+condition+`)
				EXECUTE FUNCTION public.drops()`)
	}
	drops(home, "worker", "OLD.worker = 1")
	s.refusesUp(joined, migrations.Settings{JoinURL: home, Moved: true},
		"recording the claim of this database changed nothing")
	s.refusesUp(joined, migrations.Settings{JoinURL: home, FreshWorker: true}, "worker 1 is not retired in",
		"Make sure that no other database gets worker 1")
	drops(joined, "namespace", "NEW.home IS NOT NULL")
	s.refusesUp(joined, migrations.Settings{JoinURL: home}, "changed nothing in database", server.Name(s, joined))
	s.draw(home, joined)
}

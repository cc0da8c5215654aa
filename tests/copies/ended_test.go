package copies

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// closed closes a database, as "pgflurry close" does.
func (s *story) closed(url string) {
	s.Helper()
	s.shell("pgflurry close --database '" + url + "'")
}

// Whether a copy's original gives IDs cannot be seen on another server.
func TestACopyOnAnotherServerTakesThePlaceOfAnOriginalThatWasClosedBeforeTheDumpOrIsDestroyed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home := s.migrated(migrations.Settings{})
	for name, c := range map[string]struct{ settled, moved, destroyed migrations.Settings }{
		"a home": {
			moved:     migrations.Settings{Moved: true},
			destroyed: migrations.Settings{Moved: true, OriginalDestroyed: true},
		},
		"a database that has joined": {
			settled:   migrations.Settings{JoinURL: home},
			moved:     migrations.Settings{JoinURL: home, Moved: true},
			destroyed: migrations.Settings{JoinURL: home, Moved: true, OriginalDestroyed: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{T: t, ids: s.ids}
			other := server.Private(t, nil).URL("postgres")
			original := server.Database(t)
			s.up(original, c.settled)
			s.draw(original)
			before := s.dump(original)
			early := s.database(other, "early")
			s.restore(early, before)
			s.refusesUp(early, c.moved, "before its original was closed", "pgflurry close", "--original-destroyed")
			s.closed(original)
			s.refusesUp(early, c.moved, "before its original was closed")
			s.refuses(early, "is a copy")

			late := s.database(other, "late")
			s.restore(late, s.dump(original))
			server.Refused(t, server.Connect(t, late), "SNF03", "SELECT next_snowflake()")
			s.up(late, c.moved)
			s.drawsAbove(late)
			server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
			s.refusesUp(original, c.moved, "is closed", "pgflurry open")
			server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")

			// What is destroyed cannot be seen either, so the word of the operator counts.
			server.Exec(t, other, "DROP DATABASE late WITH (FORCE)")
			s.up(early, c.destroyed)
		})
	}
}

func TestACopyOnTheSameServerTakesThePlaceOfAnOriginalThatIsClosed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	copied := server.TemplateCopy(t, original, "copies_beside_closed")
	s.draw(original)
	s.refusesUp(copied, migrations.Settings{Moved: true, OriginalDestroyed: true}, "still exists on this server")
	s.closed(original)
	s.up(copied, migrations.Settings{Moved: true})
	s.drawsAbove(copied)
	server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
	s.refusesUp(server.TemplateCopy(t, original, "copies_beside_second"), migrations.Settings{Moved: true},
		"another copy has taken the place of the original")
}

func TestACopyOfAClosedDatabaseDrawsOnceItIsSaidWhatItIsAndTheOriginalNever(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home := s.migrated(migrations.Settings{})
	original := server.Database(t)
	s.up(original, migrations.Settings{JoinURL: home})
	s.draw(original)
	s.closed(original)
	joined := server.TemplateCopy(t, original, "copies_closed_1")
	own := server.TemplateCopy(t, original, "copies_closed_2")
	s.up(joined, migrations.Settings{JoinURL: home})
	s.up(own, migrations.Settings{NewNamespace: true})
	s.drawsAbove(joined)
	s.drawsAbove(own)
	s.up(original, migrations.Settings{JoinURL: home})
	server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
}

// Each saw that nobody had taken the place, because neither had committed.
func TestOfCopiesThatTakeThePlaceAtOnceExactlyOneDoes(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	admin := server.In(t, original, "postgres")
	for range 6 {
		names := []string{"copies_race_1", "copies_race_2", "copies_race_3"}
		copies := make([]string, len(names))
		for i, name := range names {
			copies[i] = server.TemplateCopy(t, original, name)
		}
		server.Alone(t, original)
		server.Exec(t, admin, "DROP DATABASE "+server.Name(t, original))

		moved, outcomes := migrations.Settings{Moved: true}, make([]error, len(copies))
		var calls sync.WaitGroup
		for i, url := range copies {
			calls.Go(func() { outcomes[i] = migrations.Up(context.Background(), url, moved) })
		}
		calls.Wait()
		var winner string
		for i, url := range copies {
			switch {
			case outcomes[i] == nil && winner != "":
				t.Fatalf("%s has taken the place of the original, and so has %s", winner, url)
			case outcomes[i] == nil:
				winner = url
			default:
				server.Refused(t, server.Connect(t, url), "SNF03", "SELECT next_snowflake()")
			}
		}
		if winner == "" {
			t.Fatalf("none has taken the place: %v", outcomes)
		}
		s.drawsAbove(winner)
		original = server.In(t, admin, "copies_raced")
		server.Alone(t, winner)
		server.Exec(t, admin, "ALTER DATABASE "+server.Name(t, winner)+" RENAME TO copies_raced")
		for _, name := range names {
			server.Exec(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		}
	}
	server.Exec(t, admin, "DROP DATABASE copies_raced WITH (FORCE)")
}

func TestDatabasesThatCannotBeLookedIntoAreNamed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	copied := server.TemplateCopy(t, original, "copies_hidden_1")
	server.TemplateCopy(t, original, "copies_hidden_2")
	server.Alone(t, original)
	admin := server.In(t, original, "postgres")
	server.Exec(t, admin, "DROP DATABASE "+server.Name(t, original))
	server.Exec(t, admin, "ALTER DATABASE copies_hidden_2 ALLOW_CONNECTIONS false")
	var said string
	s.up(copied, migrations.Settings{Moved: true, Say: func(sentence string) { said += sentence + "\n" }})
	_, hidden, _ := strings.Cut(said, "could not be looked into: ")
	// Other tests of this cluster have such databases, too.
	if named, _, _ := strings.Cut(hidden, ". "); !slices.Contains(strings.Split(named, ", "), "copies_hidden_2") {
		t.Errorf("copies_hidden_2 is not among the databases that could not be looked into:\n%s", said)
	}
}

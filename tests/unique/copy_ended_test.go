package unique

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// closed closes a database, as "pgflurry namespace close" does.
func (s *story) closed(url string) {
	s.Helper()
	s.shell("pgflurry namespace close --database '" + url + "'")
}

// Whether another database draws the same IDs cannot be seen on another server, nor where something was closed. A dump
// proves nothing: its original may have been taken back since, and another copy of it may draw.
func TestACopyOnAnotherServerTakesThePlaceOfItsOriginalOnlyByTheWordOfTheOperator(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home := s.migrated(migrations.Settings{})
	for name, c := range map[string]struct{ settled, moved, word migrations.Settings }{
		"a home": {
			moved: migrations.Settings{Moved: true},
			word:  migrations.Settings{Moved: true, NoOtherDraws: true},
		},
		"a database that has joined": {
			settled: migrations.Settings{JoinURL: home},
			moved:   migrations.Settings{JoinURL: home, Moved: true},
			word:    migrations.Settings{JoinURL: home, Moved: true, NoOtherDraws: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{T: t, ids: s.ids}
			other := server.Private(t, nil).URL("postgres")
			original := server.Database(t)
			s.up(original, c.settled)
			s.draw(original)
			early := s.database(other, "early")
			s.restore(early, s.dump(original))
			s.refusesUp(early, c.moved, "is a copy, and nothing here shows", "pgflurry namespace close",
				"--no-other-draws")
			s.closed(original)
			s.refusesUp(early, c.moved, "goes on with the same IDs")
			s.refuses(early, "is a copy")

			late := s.database(other, "late")
			s.restore(late, s.dump(original))
			server.Refused(t, server.Connect(t, late), "SNF03", "SELECT next_snowflake()")
			s.refusesUp(late, c.moved, "goes on with the same IDs", "--no-other-draws")

			// The move fails, and the original goes on. Its dump still says that it was closed.
			s.refusesUp(original, c.moved, "is closed, and nothing here", "--no-other-draws")
			server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
			s.up(original, c.word)
			s.drawsAbove(original)
			s.refusesUp(late, c.moved, "goes on with the same IDs", "--no-other-draws")
			s.refuses(late, "is a copy")

			s.closed(original)
			server.Exec(t, other, "DROP DATABASE late WITH (FORCE)")
			late = s.database(other, "late")
			s.restore(late, s.dump(original))
			s.up(late, c.word)
			s.drawsAbove(late)
			server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
		})
	}
}

func TestACopyOnTheSameServerTakesThePlaceOfAnOriginalThatIsClosed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	copied := server.TemplateCopy(t, original, "copies_beside_closed")
	s.draw(original)
	word := migrations.Settings{Moved: true, NoOtherDraws: true}
	s.refusesUp(copied, word, "still exists on this server")
	s.closed(original)
	s.refusesUp(copied, migrations.Settings{Moved: true}, "--no-other-draws")
	s.up(copied, word)
	s.drawsAbove(copied)
	server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
	taken := "another copy has taken the place of the original"
	s.refusesUp(server.TemplateCopy(t, original, "copies_beside_second"), word, taken)
	s.refusesUp(original, word, taken)
	server.Refused(t, server.Connect(t, original), "SNF04", "SELECT next_snowflake()")
}

// The word that a start of the server forgets nothing once travelled with a dump to another server.
func TestWhatWasSaidOfAServerIsNothingOnAnotherOne(t *testing.T) {
	t.Parallel()
	s := plain(t)
	one, other := server.Private(t, nil), server.Private(t, nil)
	home, moved := one.URL("postgres"), other.URL("postgres")
	s.up(home, migrations.Settings{RestartQuarantine: new(time.Duration)})
	s.draw(home)
	const said = "SELECT coalesce(extract(epoch FROM restart_quarantine), -1)::integer FROM pgflurry.namespace"
	s.up(home, migrations.Settings{}) // nor does it end by itself
	if got := server.Value[int](t, server.Connect(t, home), said); got != 0 {
		t.Errorf("the quarantine is %d s", got)
	}
	s.closed(home)
	s.restore(moved, s.dump(home))
	looks := program.ServeUnleased(t, moved, "looks") // it notes no server in a copy
	looks.Line("is a copy")
	s.up(moved, migrations.Settings{Moved: true, NoOtherDraws: true})
	s.drawsAbove(moved)
	server.Exec(t, moved, "UPDATE pgflurry.namespace SET acquire_after = 0")
	server.Stop(t, other)
	moved = server.Again(t, other.Data, 0).URL("postgres")
	if got := server.Value[int](t, server.Connect(t, moved), said); got != -1 {
		t.Errorf("the other server has a quarantine of %d s", got)
	}
	program.ServeUnleased(t, moved, "waits").Line("no worker is granted yet, the server has just started")
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
	for range volume.Of(2, 6) {
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

// The original takes its own place back between the copy's first look at it and the copy's turn.
func TestACopyLooksAgainWhetherItsOriginalIsStillClosed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	s.closed(original)
	copied := server.TemplateCopy(s, original, "copies_late")
	held := server.Connect(s, copied)
	server.Do(s, held, "SELECT pg_advisory_lock(hashtextextended('pgflurry moved ' || id, 0)) FROM pgflurry.namespace")
	done := make(chan error, 1)
	go func() {
		done <- migrations.Up(server.Within(s), copied, migrations.Settings{Moved: true, NoOtherDraws: true})
	}()
	server.Eventually(s, held, `EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event = 'advisory')`)
	server.Exec(s, original, `UPDATE pgflurry.namespace
		SET generation = pgflurry.next_generation(generation), closed_at = NULL`)
	server.Exec(s, original, "CALL pgflurry.end_closing()")
	server.Do(s, held, "SELECT pg_advisory_unlock_all()")
	server.Says(s, <-done, "another copy has taken the place of the original")
	s.draw(original)
}

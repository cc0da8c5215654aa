//go:build full

package unique

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// needsSequences skips a test where the server cannot replicate sequences. tests/versions runs it on PostgreSQL 19.
func needsSequences(s *story) {
	s.Helper()
	const number = "SELECT current_setting('server_version_num')::int"
	if here := server.Value[int](s, server.Connect(s, server.Database(s)), number); here < 190000 {
		s.Skipf("the server has version number %d, and PostgreSQL 19 is the first to replicate sequences: "+
			"tests/versions 19 runs this", here)
	}
}

// follow subscribes a database to all sequences of another one, and waits until it has them.
func (s *story) follow(from, to string) {
	s.Helper()
	at := server.Parse(s, from)
	server.Exec(s, from, "CREATE PUBLICATION sequences FOR ALL SEQUENCES")
	server.Exec(s, to, "CREATE SUBSCRIPTION sequences CONNECTION 'host="+at.Hostname()+" port="+at.Port()+
		" dbname="+server.Name(s, from)+" user=postgres' PUBLICATION sequences")
	s.followed(to)
}

// refresh copies all sequences again, as an operator does before a switch.
func (s *story) refresh(to string) {
	s.Helper()
	server.Exec(s, to, "ALTER SUBSCRIPTION sequences REFRESH SEQUENCES")
	s.followed(to)
}

func (s *story) followed(to string) {
	s.Helper()
	server.Eventually(s, server.Connect(s, to), "(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)")
}

// keepDrawing draws from each database in two sessions until done is called, and compares every ID.
func (s *story) keepDrawing(urls ...string) (done func()) {
	var all sync.WaitGroup
	var guard sync.Mutex // of the recorder
	ctx, stop := context.WithCancel(server.Within(s))
	for _, url := range append(urls, urls...) {
		conn := server.Connect(s, url)
		all.Go(func() {
			for ctx.Err() == nil {
				rows, err := conn.Query(s.Context(), "SELECT next_snowflake() FROM generate_series(1, 500)")
				if err != nil {
					s.Errorf("%s: %v", url, err)
					return
				}
				ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
				if err != nil {
					s.Errorf("%s: %v", url, err)
					return
				}
				guard.Lock()
				err = s.ids.Add(ids...)
				guard.Unlock()
				if err != nil {
					s.Errorf("%s: %v", url, err)
					return
				}
			}
		})
	}
	return func() { stop(); all.Wait() }
}

func TestSequencesThatASubscriptionCopiesOverThoseOfADatabaseThatDrawsRepeatNoID(t *testing.T) {
	t.Parallel()
	for _, publisher := range []string{"the home", "the joined database"} {
		t.Run(publisher+" publishes", func(t *testing.T) {
			t.Parallel()
			s := plain(t)
			needsSequences(s)
			a, b := server.Private(s, nil), server.Private(s, nil)
			home, joined := s.database(a.URL("postgres"), "home"), s.database(b.URL("postgres"), "joined")
			s.up(home, migrations.Settings{})
			s.up(joined, migrations.Settings{JoinURL: home})
			from, to, follower := home, joined, b
			if publisher != "the home" {
				from, to, follower = joined, home, a
			}
			s.follow(from, to)
			done := s.keepDrawing(home, joined)
			for range 8 {
				s.refresh(to)
			}
			done()
			// After a crash nothing but the marks and the clock says where the function goes on.
			s.refresh(to)
			server.Crash(s, follower)
			to = server.In(s, server.Again(s, follower.Data, 0).URL("postgres"), server.Name(s, to))
			s.draw(to, from, to)
		})
	}
}

func TestTheSequencesOfAnotherDatabaseNeitherCloseNorOpenOne(t *testing.T) {
	t.Parallel()
	s := plain(t)
	needsSequences(s)
	a, b := server.Private(s, nil), server.Private(s, nil)
	one, other := s.database(a.URL("postgres"), "one"), s.database(b.URL("postgres"), "other")
	s.up(one, migrations.Settings{})
	s.up(other, migrations.Settings{})
	s.follow(one, other)
	s.draw(other)
	s.shell("pgflurry namespace close --database " + one)
	s.refresh(other)
	s.drawsAbove(other)
	server.Crash(s, b)
	other = server.In(s, server.Again(s, b.Data, 0).URL("postgres"), "other")
	s.drawsAbove(other)

	s.shell("pgflurry namespace move --no-other-draws --database " + one)
	s.shell("pgflurry namespace close --database " + other)
	s.refresh(other)
	server.Refused(s, server.Connect(s, other), "SNF04", "SELECT next_snowflake()")
}

// blueGreenWithSequences has two subscriptions: one for the application's tables, one for all sequences.
func blueGreenWithSequences(s *story) {
	needsSequences(s)
	blueServer, greenServer := server.Private(s, nil), server.Private(s, nil)
	blue, green := s.database(blueServer.URL("postgres"), "app"), s.database(greenServer.URL("postgres"), "app")
	s.up(blue, migrations.Settings{})
	server.Exec(s, blue, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, n serial); "+
		"INSERT INTO item SELECT FROM generate_series(1, 1000); CREATE PUBLICATION items FOR TABLE item")
	s.restore(green, s.dump(blue, "--schema-only", "--no-publications"))
	at := server.Parse(s, blue)
	server.Exec(s, green, "CREATE SUBSCRIPTION items CONNECTION 'host="+at.Hostname()+" port="+at.Port()+
		" dbname=app user=postgres' PUBLICATION items")
	s.follow(blue, green)
	s.refuses(green, "restored without its data")
	done := s.keepDrawing(blue)
	server.Exec(s, blue, "INSERT INTO item SELECT FROM generate_series(1001, 2000)")
	there := server.Connect(s, green)
	server.Eventually(s, there, "(SELECT count(*) FROM item) = 2000")
	s.refresh(green)
	s.refuses(green, "restored without its data")
	done()
	s.draw(blue)
	s.command(0, "BLUE", blue)
	s.refresh(green)
	server.Exec(s, green, "DROP SUBSCRIPTION items")
	for i := range 2 {
		s.command(i+1, "BLUE", blue, "GREEN", green)
	}
	s.command(3, "GREEN", green)
	s.drawsAbove(green)
	// Somebody refreshes once more, too late.
	server.Exec(s, green, "ALTER SUBSCRIPTION sequences REFRESH PUBLICATION")
	s.refresh(green)
	s.drawsAbove(green)
	server.Exec(s, green, "INSERT INTO item SELECT FROM generate_series(2001, 3000)")
	if n := server.Value[int](s, there, "SELECT least(count(DISTINCT id), count(DISTINCT n)) FROM item"); n != 3000 {
		s.Errorf("%d different IDs or numbers, want 3000", n)
	}
	server.Refused(s, server.Connect(s, blue), "SNF04", "SELECT next_snowflake()")
}

func followsAnotherEpoch(s *story) {
	needsSequences(s)
	publisher, subscriber := server.Private(s, nil), server.Private(s, nil)
	from, url := s.database(publisher.URL("postgres"), "one"), s.database(subscriber.URL("postgres"), "other")
	s.up(from, migrations.Settings{Epoch: time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)})
	s.up(url, migrations.Settings{})
	s.draw(url)
	server.Exec(s, from, "SELECT next_snowflake()")
	s.follow(from, url)
	// The function reads its mark about once a second.
	said := server.Refused(s, server.Connect(s, url), "SNF01",
		"SELECT max(next_snowflake()) FROM generate_series(1, 10000) AS a, generate_series(1, 10000) AS b")
	if !strings.Contains(said.Hint, "--fresh-worker") {
		s.Errorf("the hint is %q", said.Hint)
	}
	server.Exec(s, url, "DROP SUBSCRIPTION sequences")
	s.command(0, "URL", url)
	s.draw(url)
}

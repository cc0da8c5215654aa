package unique

import (
	"errors"
	"testing"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
	"pgflurry/tests/support/server"
)

// judged is each party's answer to one question: is this database the one that its row was made for?
func (s *story) judged(url string) (by map[string]bool) {
	s.Helper()
	conn := server.Connect(s, url)
	row, err := namespace.Read(server.Within(s), conn)
	if err != nil {
		s.Fatal(err)
	}
	_, copied := row.Copied()
	state, err := migrations.Status(server.Within(s), url)
	if err != nil {
		s.Fatal(err)
	}
	judged, err := namespace.Answerable(server.Within(s), conn, row.ID)
	answers := judged.IDs
	if err != nil {
		s.Fatal(err)
	}
	store := lease.NewPostgres(&conn.Config().Config, connect.Rules{})
	defer store.Close()
	_, err = store.Acquire(server.Within(s),
		lease.Request{Namespace: row.ID, Owner: "5f0c3a52-0f0f-4c0c-8c0c-000000000001", Node: "n", Window: 1000})
	refusal := new(lease.Refusal)
	_, drawn := conn.Exec(server.Within(s), "SELECT next_snowflake()")
	return map[string]bool{
		"the program":  !copied,
		"status":       state.Copied == "",
		"a proxy":      answers.Permit("next_snowflake"),
		"the lease":    !errors.As(err, &refusal) || refusal.Reason != lease.Copy,
		"up":           migrations.Up(server.Within(s), url, migrations.Settings{}) == nil,
		"the function": drawn == nil,
	}
}

func plain(t *testing.T) *story { return newStory(t, nil) }

func TestIdentityInvariant1EverybodySaysTheSameOfADatabase(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	for url, want := range map[string]bool{original: true, server.TemplateCopy(s, original, "copies_judged"): false} {
		for who, is := range s.judged(url) {
			if is != want {
				t.Errorf("%s says of %s that it is the original: %v", who, url, is)
			}
		}
	}
}

func TestIdentityInvariant2ACopyGivesNoIDWhileItsLaneIsAheadOfTheClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]string{
		"a new function, a second ahead": "SELECT next_snowflake()",
		"the middle of a tick":           "SELECT next_snowflake() FROM generate_series(1, 3000)",
		"a lane that a clock has left alone": "SELECT next_snowflake(); " +
			"SELECT setval('pgflurry.lane', (pgflurry.ticks(clock_timestamp()) + 60000) << 22)",
	} {
		t.Run(name, func(t *testing.T) {
			s := plain(t)
			original := s.migrated(migrations.Settings{})
			server.Exec(s, original, ahead)
			copied := server.TemplateCopy(s, original, "copies_ahead")
			for range 2 { // in each session anew
				s.refuses(copied, "is a copy")
			}
		})
	}
}

func TestIdentityInvariant2TheNameSakeOfARenamedOriginalGivesNoID(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	admin, name := server.In(s, original, "postgres"), server.Name(s, original)
	server.Alone(s, original)
	server.Exec(s, admin, "ALTER DATABASE "+name+" RENAME TO copies_renamed")
	server.Exec(s, admin, "CREATE DATABASE "+name+" TEMPLATE copies_renamed")
	s.refuses(original, "is a copy")
	renamed := server.In(s, admin, "copies_renamed")
	s.draw(renamed, renamed)
	server.Exec(s, admin, "DROP DATABASE "+name+" WITH (FORCE)")
	server.Alone(s, renamed)
	server.Exec(s, admin, "ALTER DATABASE copies_renamed RENAME TO "+name) // and back
	s.draw(original)
}

func TestIdentityInvariant3ASwapOfTheNamesOfTwoDatabasesChangesNothing(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home, joined := s.migrated(migrations.Settings{}), server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	s.draw(home, joined)
	admin := server.In(s, home, "postgres")
	a, b := server.Name(s, home), server.Name(s, joined)
	server.Alone(s, home)
	server.Alone(s, joined)
	for _, rename := range []string{
		a + " RENAME TO copies_between", b + " RENAME TO " + a, "copies_between RENAME TO " + b,
	} {
		server.Exec(s, admin, "ALTER DATABASE "+rename)
	}
	s.draw(home, joined, home, joined) // each by the other's name
	for _, url := range []string{home, joined} {
		for who, is := range s.judged(url) {
			if !is {
				t.Errorf("%s says of %s that it is a copy", who, url)
			}
		}
	}
	s.up(home, migrations.Settings{JoinURL: joined}) // the home's claim follows the name
	if state, err := migrations.Status(server.Within(s), joined); err != nil || len(state.Joined) != 1 ||
		state.Joined[0].Database != a {
		t.Errorf("the home knows %+v, %v; want %s", state.Joined, err, a)
	}
}

func TestIdentityInvariant3ARestartAndACrashLeaveAnOriginal(t *testing.T) {
	t.Parallel()
	s := plain(t)
	cluster := server.Private(s, nil)
	s.up(cluster.URL("postgres"), migrations.Settings{})
	s.draw(cluster.URL("postgres"))
	server.Stop(s, cluster)
	cluster = server.Again(s, cluster.Data, 0)
	s.drawsAbove(cluster.URL("postgres"))
	server.Crash(s, cluster)
	s.drawsAbove(server.Again(s, cluster.Data, 0).URL("postgres"))
}

func TestIdentityInvariant5AClaimFromAnotherAddressIsRefusedUntilItIsSaidWhetherTheOriginalLives(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home, joined := s.migrated(migrations.Settings{}), server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	before := s.worker(joined)
	server.Exec(s, home, "UPDATE pgflurry.worker SET address = 'elsewhere.example:5432/billing' WHERE worker = 1")
	s.refusesUp(joined, migrations.Settings{JoinURL: home}, "at elsewhere.example:5432/billing", "--copy",
		"namespace move")
	s.up(joined, migrations.Settings{JoinURL: home, Copy: true})
	if s.worker(joined) == before {
		t.Error("the copy has the worker of its original")
	}
	s.draw(home, joined)
}

func TestALogicalReplicaOfTheTablesIsNoticed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	publisher, subscriber := server.Private(s, nil), server.Private(s, nil)
	app, replica := s.database(publisher.URL("postgres"), "app"), s.database(subscriber.URL("postgres"), "app")
	s.up(app, migrations.Settings{})
	s.draw(app)
	server.Exec(s, app, "CREATE PUBLICATION everything FOR ALL TABLES")
	s.restore(replica, s.dump(app, "--schema-only"))
	at := server.Parse(s, app)
	server.Exec(s, replica, "CREATE SUBSCRIPTION everything CONNECTION 'host="+at.Hostname()+" port="+at.Port()+
		" dbname=app user=postgres' PUBLICATION everything")
	server.Eventually(s, server.Connect(s, replica), "EXISTS (SELECT FROM pgflurry.namespace)")
	s.refuses(replica, "is server cluster")
	s.draw(app)
}

func TestWhoDrawsInAPreparedTransactionDrawsAsEverybodyDoes(t *testing.T) {
	t.Parallel()
	s := plain(t)
	cluster := server.Private(s, map[string]string{"max_prepared_transactions": "4"})
	url := cluster.URL("postgres")
	s.up(url, migrations.Settings{})
	server.Exec(s, url, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY);
		BEGIN;
		INSERT INTO item SELECT FROM generate_series(1, 9000);
		PREPARE TRANSACTION 'items'`)
	s.draw(url)
	server.Crash(s, cluster)
	url = server.Again(s, cluster.Data, 0, map[string]string{"max_prepared_transactions": "4"}).URL("postgres")
	s.draw(url)
	server.Exec(s, url, "COMMIT PREPARED 'items'")
	if err := s.ids.Add(server.Values[int64](s, server.Connect(s, url), "SELECT id FROM item")...); err != nil {
		t.Error(err)
	}
}

func TestDropSchemaCascadeTakesDefaultsThatCallSchemaPgflurryAndLeavesThoseOfNextSnowflake(t *testing.T) {
	t.Parallel()
	s := plain(t)
	url := s.migrated(migrations.Settings{Functions: sqlfuncs.All})
	conn := server.Connect(s, url)
	server.Do(s, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake(),
		number bigint DEFAULT next_segment('item'), qualified bigint DEFAULT pgflurry.next_segment('item'));
		DROP SCHEMA pgflurry CASCADE`)
	defaults := server.Values[string](s, conn,
		"SELECT attname::text FROM pg_attribute WHERE attrelid = 'item'::regclass AND attnum > 0 AND atthasdef")
	if len(defaults) != 1 || defaults[0] != "id" {
		t.Errorf("columns with a default afterwards: %q, want id alone", defaults)
	}
	// 15, 18
	if _, err := conn.Exec(server.Within(s), "SELECT next_snowflake()"); sqlstate(err) != "3F000" &&
		sqlstate(err) != "42P01" {
		t.Errorf("the function without its schema: %v", err)
	}
	s.up(url, migrations.Settings{})
	s.drawsAbove(url)
}

func TestADumpOfTheWorkersAloneThatIsRestoredIsNoticed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home := s.migrated(migrations.Settings{})
	file := s.dump(home, "--table=pgflurry.worker")
	s.up(server.Database(s), migrations.Settings{JoinURL: home})
	conn := server.Connect(s, home)
	// pg_restore --clean fails by that: leases are written through a view of the table
	server.Refused(s, conn, "2BP01", "DROP TABLE pgflurry.worker")
	server.Do(s, conn, "DROP TABLE pgflurry.worker CASCADE")
	s.restore(home, file)
	s.refuses(home, "was restored")
	s.refusesUp(server.Database(s), migrations.Settings{JoinURL: home}, "was restored")
	s.up(home, migrations.Settings{Moved: true})
	s.drawsAbove(home)
}

func TestWhatASubscriptionBringsDoesNotChangeWhichDatabaseThisIs(t *testing.T) {
	t.Parallel()
	s := plain(t)
	publisher, subscriber := server.Private(s, nil), server.Private(s, nil)
	from, to := s.database(publisher.URL("postgres"), "app"), s.database(subscriber.URL("postgres"), "app")
	s.up(from, migrations.Settings{})
	s.up(to, migrations.Settings{})
	s.draw(to)
	at := server.Parse(s, from)
	server.Exec(s, from, "CREATE TABLE arrived (n int); CREATE PUBLICATION everything FOR ALL TABLES")
	server.Exec(s, to, "CREATE TABLE arrived (n int)")
	server.Exec(s, to, "CREATE SUBSCRIPTION everything CONNECTION 'host="+at.Hostname()+" port="+at.Port()+
		" dbname=app user=postgres' PUBLICATION everything WITH (copy_data = false)")
	server.Exec(s, from, `UPDATE pgflurry.namespace SET acquire_after = acquire_after + 1;
		UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 5 WHERE worker = 99;
		INSERT INTO arrived VALUES (1)`)
	server.Eventually(s, server.Connect(s, to), "EXISTS (SELECT FROM arrived)")
	if n := server.Value[int](s, server.Connect(s, to), "SELECT count(*) FROM pgflurry.worker WHERE term = 5"); n > 0 {
		t.Error("a lease of the publisher stands in the subscriber's rows")
	}
	s.draw(to)
}

func TestWhereANamespaceMayHaveBeenBeforeNoProxyGetsAWorkerForAQuarantine(t *testing.T) {
	t.Parallel()
	s := plain(t)
	const closed = "SELECT acquire_after > pgflurry.ticks(clock_timestamp() + interval '110 s') FROM pgflurry.namespace"
	for name, lose := range map[string]func(url string){
		"DROP SCHEMA": func(url string) { server.Exec(s, url, "DROP SCHEMA pgflurry CASCADE") },
		"a schema without data in place": func(url string) {
			s.restore(url, s.dump(url, "--schema-only"), "--clean", "--if-exists")
		},
	} {
		url := s.migrated(migrations.Settings{})
		lose(url)
		s.up(url, migrations.Settings{})
		if !server.Value[bool](s, server.Connect(s, url), closed) {
			t.Errorf("%s: a proxy may get a worker that another one still draws with", name)
		}
	}
	url := s.migrated(migrations.Settings{})
	s.restore(url, s.dump(url), "--clean", "--if-exists")
	server.Exec(s, url, "CALL pgflurry.new_namespace()")
	if !server.Value[bool](s, server.Connect(s, url), closed) {
		t.Error("a namespace founded where the old one was: a proxy may get a worker that another one still draws with")
	}
	if server.Value[bool](s, server.Connect(s, s.migrated(migrations.Settings{})), closed) {
		t.Error("a new database waits for nothing")
	}
}

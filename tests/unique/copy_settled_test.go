package unique

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestASessionThatWasRefusedDrawsOnceTheDatabaseIsSettled(t *testing.T) {
	t.Parallel()
	s := plain(t)
	copied := server.TemplateCopy(s, s.migrated(migrations.Settings{}), "copies_settled")
	conn := server.Connect(s, copied)
	server.Refused(s, conn, "SNF03", "SELECT next_snowflake()")
	server.Refused(s, conn, "SNF03", "SELECT next_snowflake()")
	server.Exec(s, copied, "CALL pgflurry.new_namespace()")
	server.Do(s, conn, "SELECT next_snowflake()")
}

// A test suite calls it in each clone, so it sends no notices.
func TestANewNamespaceIsMadeWithoutNotices(t *testing.T) {
	t.Parallel()
	s := plain(t)
	config, err := pgx.ParseConfig(server.TemplateCopy(s, s.migrated(migrations.Settings{}), "copies_quiet"))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { t.Errorf("%s: %s", n.Severity, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	server.Do(s, conn, "CALL pgflurry.new_namespace()")
}

func TestACopyThatTakesThePlaceOfItsOriginalBeginsAboveAllThatThatGaveSinceTheCopy(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := server.Migrated(t)
	server.Exec(s, original, "SELECT next_snowflake()") // a lane that is a second ahead of the clock
	copied := server.TemplateCopy(s, original, "copies_in_place")
	s.draw(original)
	server.Exec(s, copied, "SELECT 1")
	server.Alone(s, original)
	server.Exec(s, server.In(s, original, "postgres"), "DROP DATABASE "+server.Name(s, original))
	s.up(copied, migrations.Settings{Moved: true})
	s.drawsAbove(copied)
}

// The lane is an hour ahead of the clock, so it is still ahead when the copy draws, however slow the machine is.
func TestACopyThatTakesThePlaceOfItsOriginalLeavesALaneThatIsAheadForItsStart(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	server.Exec(s, original, "SELECT setval('pgflurry.mark', (t.hence >> 10) + 2 << 10), nextval('pgflurry.mark'), "+
		"setval('pgflurry.lane', t.hence << 22 | 1000) "+
		"FROM pgflurry.ticks(clock_timestamp() + interval '1 hour') AS t (hence)")
	copied := server.TemplateCopy(s, original, "copies_far_ahead")
	conn := server.Connect(s, original)
	server.Do(s, conn, "SELECT next_snowflake() FROM generate_series(1, 100)") // what the copy's lane would give, too
	conn.Close(server.Within(s))
	server.Alone(s, original)
	server.Exec(s, server.In(s, original, "postgres"), "DROP DATABASE "+server.Name(s, original))
	s.up(copied, migrations.Settings{Moved: true})
	server.Refused(s, server.Connect(s, copied), "SNF01", "SELECT next_snowflake()")
}

func TestNewNamespaceRefusesAnOriginalAndIsSafeToCallTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := s.migrated(migrations.Settings{})
	said := server.Refused(s, server.Connect(s, original), "55000", "CALL pgflurry.new_namespace()")
	if !strings.Contains(said.Hint, "new_namespace(true)") {
		t.Errorf("the hint is %q", said.Hint)
	}
	copied := server.TemplateCopy(s, original, "copies_twice")
	var calls sync.WaitGroup
	results := make(chan error, 2)
	for range cap(results) {
		conn := server.Connect(s, copied)
		calls.Go(func() { _, err := conn.Exec(context.Background(), "CALL pgflurry.new_namespace()"); results <- err })
	}
	calls.Wait()
	first, second := <-results, <-results
	if (first == nil) == (second == nil) {
		t.Errorf("one founds the space, the other finds it there: %v, %v", first, second)
	}
	s.drawsAbove(copied)
}

func TestOfTwoCopiesOneAloneTakesThePlaceOfTheOriginal(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home, joined := s.migrated(migrations.Settings{}), server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	for _, original := range []string{joined, home} {
		s.draw(original)
		first, second := server.TemplateCopy(s, original, "copies_heir_1"),
			server.TemplateCopy(s, original, "copies_heir_2")
		server.Alone(s, original)
		server.Exec(s, server.In(s, original, "postgres"), "DROP DATABASE "+server.Name(s, original))
		moved := migrations.Settings{Moved: true}
		if original == joined {
			moved.JoinURL = home
			s.up(first, moved)
			s.up(second, moved) // its claim is used up: it gets a worker of its own
			if a, b := s.worker(first), s.worker(second); a == b {
				t.Errorf("both have worker %d", a)
			}
			s.draw(first, second, first, second)
			server.Exec(s, server.In(s, original, "postgres"), "DROP DATABASE copies_heir_1 WITH (FORCE)")
			server.Exec(s, server.In(s, original, "postgres"), "DROP DATABASE copies_heir_2 WITH (FORCE)")
			continue
		}
		s.up(first, moved)
		s.refusesUp(second, moved, "another copy has taken the place of the original")
		s.drawsAbove(first)
		s.refuses(second, "is a copy")
	}
}

func TestAWorkerThatWasLeftBehindIsNobodysAgainNotEvenOfItsOldBackup(t *testing.T) {
	t.Parallel()
	s := plain(t)
	home, joined := s.migrated(migrations.Settings{DatabaseWorkers: 4}), server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	s.draw(joined)
	file := s.dump(joined)
	s.up(joined, migrations.Settings{JoinURL: home, FreshWorker: true})
	s.draw(joined)
	s.restore(joined, file, "--clean", "--if-exists") // with the worker that was left behind
	s.up(joined, migrations.Settings{JoinURL: home, Moved: true})
	if w := s.worker(joined); w != 3 {
		t.Errorf("the restored database has worker %d, want 3: 1 and 2 were left behind", w)
	}
	s.drawsAbove(joined)
	s.refusesUp(server.Database(s), migrations.Settings{JoinURL: home}, "all 4 workers for database functions")
}

func TestAnOriginalDoesNotJoinItselfNorItsCopyInPassing(t *testing.T) {
	t.Parallel()
	s := plain(t)
	original := server.Private(s, nil)
	home := s.database(original.URL("postgres"), "home")
	s.up(home, migrations.Settings{})
	s.draw(home)
	clone := server.In(s, server.Clone(s, original, "clone").URL("postgres"), "home")
	s.refusesUp(home, migrations.Settings{JoinURL: clone}, "are both the home", "Be sure which of the two it is")
	s.refusesUp(home, migrations.Settings{JoinURL: home, Copy: true}, "is the home of namespace")
	s.refusesUp(home, migrations.Settings{JoinURL: home, Moved: true}, "is the home of namespace")
	s.draw(home)
}

func TestAServerThatWasStoppedInOrderAndSetBackBeginsAnewByReseed(t *testing.T) {
	t.Parallel()
	s := plain(t)
	cluster := server.Private(s, nil)
	url := cluster.URL("postgres")
	s.up(url, migrations.Settings{})
	s.draw(url)
	again, snapshot := s.kept(cluster)
	s.draw(again.URL("postgres"))
	server.Crash(s, again)
	url = server.Again(s, snapshot, 0).URL("postgres")
	s.shell("pgflurry workers reseed --yes --database '" + url + "'")
	s.drawsAbove(url)
}

func TestNothingJoinsADisposableNamespace(t *testing.T) {
	t.Parallel()
	s := plain(t)
	s.refusesUp(server.Database(s), migrations.Settings{JoinURL: s.migrated(migrations.Settings{Disposable: true})},
		"is disposable: nothing can join it")
}

func TestAFreshWorkerWaitsForCallsThatMayHaveReadTheOldText(t *testing.T) {
	t.Parallel()
	s := plain(t)
	url := s.migrated(migrations.Settings{})
	open := server.Connect(s, url)
	server.Do(s, open, "BEGIN; SELECT next_snowflake()")
	done := make(chan error, 1)
	go func() { done <- migrations.Up(context.Background(), url, migrations.Settings{FreshWorker: true}) }()
	conn := server.Connect(s, url)
	server.Eventually(s, conn, "(SELECT function_worker FROM pgflurry.namespace) = 1")
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	server.Do(s, open, "COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.draw(url)
}

// The marks are still the old worker's, and an hour ahead. So the new worker must not go on in the tick of the lane.
func TestAFreshWorkerGivesNoIDOfATickThatOnlyTheOldMarkCovers(t *testing.T) {
	t.Parallel()
	s := plain(t)
	url := s.migrated(migrations.Settings{})
	server.FunctionClock(s, url, "'1 hour'")
	conn, open := server.Connect(s, url), server.Connect(s, url)
	ahead := func() int64 {
		id := server.Value[int64](s, conn, "SELECT next_snowflake()")
		if err := s.ids.Add(id); err != nil {
			s.Fatal(err)
		}
		return id>>22 - server.Value[int64](s, conn, "SELECT pgflurry.ticks(clock_timestamp())")
	}
	if ahead() < 3_500_000 {
		s.Fatal("the lane is not an hour ahead, so this proves nothing")
	}
	server.Exec(s, url, "CALL pgflurry.install_next_snowflake()") // with the server's clock
	server.Do(s, open, "BEGIN; SELECT")
	done := make(chan error, 1)
	go func() { done <- migrations.Up(context.Background(), url, migrations.Settings{FreshWorker: true}) }()
	server.Eventually(s, conn, "(SELECT function_worker FROM pgflurry.namespace) = 1")
	var id int64
	err := conn.QueryRow(server.Within(s), "SELECT next_snowflake()").Scan(&id)
	if sqlstate(err) != "SNF01" {
		s.Errorf("before it has a mark of its own, worker %d gives %d: %v", id>>12&1023, id, err)
	}
	server.Do(s, open, "COMMIT")
	if err := <-done; err != nil {
		s.Fatal(err)
	}
	if ticks := ahead(); ticks > 1001 {
		s.Errorf("the fresh worker begins %d ticks ahead of the clock", ticks)
	}
	server.FunctionClock(s, url, "'1 hour'") // the clock gets there
	s.draw(url)
}

// In a layout with more bits for the tick, the lane of the dump is years ahead.
func TestADumpWithoutTheRowsLeavesNoLaneForAnotherLayout(t *testing.T) {
	t.Parallel()
	s := plain(t)
	file := s.dump(s.migrated(migrations.Settings{}),
		"--exclude-table-data=pgflurry.namespace", "--exclude-table-data=pgflurry.worker*")
	url := server.Database(s)
	s.restore(url, file)
	conn := server.Connect(s, url)
	if !server.Value[bool](s, conn, "SELECT last_value >> 20 > 2 * 365 * 86400000::bigint FROM pgflurry.lane") {
		s.Fatal("the dump brings no value of the lane, so this proves nothing")
	}
	s.up(url, migrations.Settings{Layout: "43/0/1/19"})
	ids := server.Values[int64](s, conn, "SELECT next_snowflake() FROM generate_series(1, 5000)")
	mark := server.Value[int64](s, conn, "SELECT last_value FROM pgflurry.mark")
	now := server.Value[int64](s, conn, "SELECT pgflurry.ticks(clock_timestamp())")
	if tick := ids[len(ids)-1] >> 20; tick >= mark || tick > now+1001 || !slices.IsSorted(ids) {
		s.Errorf("the last ID is %d ticks ahead of the clock, %d ahead of the mark, or they do not increase",
			tick-now, tick-mark)
	}
}

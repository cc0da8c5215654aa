package database

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// A fenced pair is a primary whose commits wait for its standby.
type fencedPair struct {
	t                *testing.T
	primary, standby *postgres.Cluster
	url              string
	conn             *pgx.Conn         // to the primary
	options          map[string]string // of the standby
}

func newFencedPair(t *testing.T) *fencedPair {
	t.Helper()
	options := map[string]string{"max_prepared_transactions": "5"}
	primary := server.Private(t, options)
	p := &fencedPair{t: t, primary: primary, url: primary.URL("postgres"), options: options}
	up(t, p.url, migrations.Settings{})
	p.conn = server.Connect(t, p.url)
	p.standby = waitsForStandby(t, primary, options)
	server.Eventually(t, p.conn, "current_setting('synchronous_standby_names') <> ''")
	return p
}

// waitsForStandby gives a cluster a standby, and its commits wait for that.
func waitsForStandby(t *testing.T, primary *postgres.Cluster, options map[string]string) *postgres.Cluster {
	t.Helper()
	standby := server.Standby(t, primary, "standby", fmt.Sprintf("host=127.0.0.1 port=%d", primary.Port), options)
	conn := server.Connect(t, primary.URL("postgres"))
	run(t, conn, "ALTER SYSTEM SET synchronous_standby_names = standby")
	run(t, conn, "SELECT pg_reload_conf()")
	server.Eventually(t, conn, "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
	return standby
}

// isolate promotes the standby. From then on no other server gets what the primary writes.
func (p *fencedPair) isolate() (promoted *pgx.Conn) {
	p.t.Helper()
	server.Promote(p.t, p.standby)
	promoted = server.Connect(p.t, p.standby.URL("postgres"))
	run(p.t, promoted, "ALTER SYSTEM SET synchronous_standby_names = ''")
	run(p.t, promoted, "SELECT pg_reload_conf()")
	server.Eventually(p.t, promoted, "current_setting('synchronous_standby_names') = ''")
	server.Eventually(p.t, p.conn, "NOT EXISTS (SELECT FROM pg_stat_replication)")
	return promoted
}

// A hearer notes the IDs that reached a client in a successful statement.
type hearer struct {
	mu  sync.Mutex
	ids []int64
}

// draws repeats a statement on new sessions until ctx ends. What a statement returned is committed.
func (h *hearer) draws(ctx context.Context, url, statement string) {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			continue
		}
		for {
			var ids []int64
			results := conn.PgConn().Exec(ctx, statement)
			for results.NextResult() {
				for result := results.ResultReader(); result.NextRow(); {
					ids = appendID(ids, result.Values()[0])
				}
			}
			if err := results.Close(); err != nil {
				break
			}
			h.mu.Lock()
			h.ids = append(h.ids, ids...)
			h.mu.Unlock()
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

// hears waits until a hundred IDs have come.
func (h *hearer) hears(t *testing.T) {
	t.Helper()
	server.Until(t, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if n := len(h.ids); n < 100 {
			return fmt.Errorf("only %d IDs have come", n)
		}
		return nil
	})
}

func (h *hearer) once(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.ids)
	if n := len(h.ids) - len(slices.Compact(slices.Clone(h.ids))); n > 0 {
		t.Errorf("%d IDs of %d came twice", n, len(h.ids))
	}
}

func TestAnIsolatedPrimaryShowsNoIDThatThePromotedStandbyGives(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	before := &hearer{}
	ctx, stop := context.WithCancel(within(t))
	var sessions sync.WaitGroup
	for range 4 {
		sessions.Go(func() { before.draws(ctx, p.url, "SELECT next_snowflake()") })
		sessions.Go(func() { before.draws(ctx, p.url, "SET synchronous_commit = off; SELECT next_snowflake()") })
	}
	server.Eventually(t, p.conn, "(SELECT last_value FROM pgflurry.confirmed) > $1",
		value[int64](t, p.conn, "SELECT pgflurry.ticks(clock_timestamp())")+4096)
	before.hears(t)
	promoted := p.isolate()
	mark := value[int64](t, promoted, "SELECT last_value FROM pgflurry.mark")
	after := &hearer{}
	for range 4 {
		sessions.Go(func() { after.draws(ctx, p.standby.URL("postgres"), "SELECT next_snowflake()") })
	}
	// Two blocks of the mark later, no session draws any more from what the standby has confirmed.
	server.Eventually(t, promoted, "pgflurry.ticks(clock_timestamp()) > $1", mark+4096)
	if !value[bool](t, p.conn, "SELECT count(*) >= 8 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") {
		t.Error("of eight sessions of the isolated primary not all wait at their commit")
	}
	after.hears(t)
	stop()
	sessions.Wait()
	before.once(t)
	after.once(t)
	if last := before.ids[len(before.ids)-1]; last>>22 >= mark {
		t.Errorf("the isolated primary showed an ID of tick %d, and the standby knows the mark %d", last>>22, mark)
	}
	both := &hearer{ids: slices.Concat(before.ids, after.ids)}
	both.once(t)
}

// ends are the ways in which the transaction that raised the mark may end.
var ends = []struct {
	name, begin, end string
	confirms         bool // whether others can draw afterwards without a commit of their own
}{
	{"it commits", "BEGIN; SELECT next_snowflake()", "COMMIT", true},
	{"it rolls a savepoint back", "BEGIN; SAVEPOINT s; SELECT next_snowflake(); ROLLBACK TO s", "COMMIT", true},
	{"it did not want to wait", "SET synchronous_commit = off; BEGIN; SELECT next_snowflake()", "COMMIT", true},
	{"it stays open", "BEGIN; SELECT next_snowflake()", "SELECT", false},
	{"it rolls back", "BEGIN; SELECT next_snowflake()", "ROLLBACK", false},
	{"it is prepared", "BEGIN; SELECT next_snowflake()", "PREPARE TRANSACTION 'raiser'", false},
	{"it is terminated", "BEGIN; SELECT next_snowflake()", "SELECT pg_terminate_backend(pg_backend_pid())", false},
	{"it has a number from elsewhere", "BEGIN; SELECT next_snowflake(); " +
		"SELECT setval('pgflurry.raiser', 4000000000000)", "COMMIT", false},
}

// free says whether other transactions draw without waiting for a commit, after the raiser began and ended so.
func (p *fencedPair) free(t *testing.T, begin, end string) bool {
	t.Helper()
	raiser, other := server.Connect(t, p.url), server.Connect(t, p.url)
	run(t, p.conn, "SELECT setval('pgflurry.lane', 2097152)") // START: the lane after a crash
	run(t, raiser, begin)
	_, _ = raiser.PgConn().Exec(within(t), end).ReadAll() // a terminated session returns an error
	run(t, other, "BEGIN; SELECT next_snowflake() FROM generate_series(1, 100)")
	free := value[bool](t, other, "SELECT txid_current_if_assigned() IS NULL")
	run(t, other, "COMMIT")
	if strings.HasPrefix(end, "PREPARE") {
		run(t, p.conn, "COMMIT PREPARED 'raiser'")
	}
	return free
}

func TestOnlyACommitThatHasWaitedForTheStandbyOpensTicksForEverybody(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	for _, e := range ends {
		if free := p.free(t, e.begin, e.end); free != e.confirms {
			t.Errorf("%s: another one draws without a commit that waits: %v, want %v", e.name, free, e.confirms)
		}
	}
	rewrite(t, p.conn, "pgflurry.advance_slowly(bigint)", "IF became = 'committed' AND", "IF", 1)
	if !p.free(t, ends[4].begin, ends[4].end) {
		t.Error("without the guard nothing is noticed")
	}
}

// A dump reads the sequences one by one: confirmed may come from a later moment than the mark.
func TestAStartIsFencedWhateverTheSequencesSay(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	free := func() bool {
		run(t, p.conn, "SELECT setval('pgflurry.confirmed', pgflurry.ticks(clock_timestamp()) + 3600000)")
		return p.free(t, "BEGIN; SELECT next_snowflake()", "SELECT")
	}
	if free() {
		t.Error("another one draws from a start whose mark no commit has waited for")
	}
	rewrite(t, p.conn, "pgflurry.advance_slowly(bigint)", "fenced := tick = 0 OR target", "fenced := target", 1)
	if !free() {
		t.Error("without the guard nothing is noticed")
	}
}

// The lane's counter ran over into a block that the mark does not cover with the next one. The transaction that raised
// the mark has committed, but no standby was there. Then a call moves the mark, and is broken off.
func TestACallThatIsBrokenOffLeavesNoWitnessForTheMarkThatItMoved(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	stopAt(t, p.url, noon)
	follows := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=standby", p.primary.Port)
	free := func() bool {
		server.Stop(t, p.standby)
		server.Eventually(t, p.conn, "NOT EXISTS (SELECT FROM pg_stat_replication)")
		run(t, p.conn, "SET synchronous_commit = local")
		raiser := value[int64](t, p.conn, "SELECT txid_current()")
		run(t, p.conn, fmt.Sprintf(`SELECT setval('pgflurry.lane', %d), setval('pgflurry.mark', %d),
			nextval('pgflurry.mark'), setval('pgflurry.raiser', %d), setval('pgflurry.confirmed', %d)`,
			(noon+5)<<22|laneStart+5000, (noon>>10+1)<<10, raiser, noon))
		run(t, p.conn, fmt.Sprintf("ALTER SEQUENCE pgflurry.raiser MAXVALUE %d", raiser)) // no later one fits in
		refused(t, p.conn, "22003", "SELECT next_snowflake()")
		if mark := value[int64](t, p.conn, "SELECT last_value FROM pgflurry.mark"); mark <= (noon>>10+2)<<10 {
			t.Fatalf("the mark is %d: the call has not moved it", mark)
		}
		run(t, p.conn, "ALTER SEQUENCE pgflurry.raiser NO MAXVALUE")
		p.standby = server.Again(t, p.standby.Data, 0, p.options, map[string]string{"primary_conninfo": follows})
		run(t, p.conn, "RESET synchronous_commit")
		server.Eventually(t, p.conn, "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
		run(t, p.conn, "BEGIN; SELECT next_snowflake() FROM generate_series(1, 100)")
		defer run(t, p.conn, "ROLLBACK")
		return value[bool](t, p.conn, "SELECT txid_current_if_assigned() IS NULL")
	}
	if free() {
		t.Error("a commit from before the mark moved opens the ticks below it to everybody")
	}
	rewrite(t, p.conn, "pgflurry.advance_slowly(bigint)", "PERFORM setval('pgflurry.raiser'::regclass, 0);", "", 1)
	if !free() {
		t.Error("without the guard nothing is noticed")
	}
}

func TestAWaitThatIsCancelledOpensNothingWhereNoStandbyIsConnected(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	p.isolate()
	run(t, p.conn, "SET synchronous_commit = local")
	cancelled := func() (free bool) {
		raiser, other := server.Connect(t, p.url), server.Connect(t, p.url)
		run(t, p.conn, "SELECT setval('pgflurry.lane', 2097152)")
		done := make(chan error, 1)
		go func() {
			_, err := raiser.Exec(context.Background(), "SELECT next_snowflake()")
			done <- err
		}()
		server.Eventually(t, p.conn, fmt.Sprintf(`(SELECT pg_cancel_backend(pid) FROM pg_stat_activity
			WHERE pid = %d AND wait_event = 'SyncRep')`, raiser.PgConn().PID()))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		run(t, other, "BEGIN; SELECT next_snowflake() FROM generate_series(1, 100)")
		defer run(t, other, "ROLLBACK")
		return value[bool](t, other, "SELECT txid_current_if_assigned() IS NULL")
	}
	if cancelled() {
		t.Error("another one draws without a commit that waits")
	}
	rewrite(t, p.conn, "pgflurry.advance_slowly(bigint)", "AND EXISTS (SELECT FROM", "AND NOT EXISTS (SELECT FROM", 1)
	if !cancelled() {
		t.Error("without the guard nothing is noticed")
	}
}

func TestALongTransactionAloneDrawsAsManyAsItLikesWithSynchronousReplication(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	run(t, p.conn, "CREATE TABLE item (id bigint DEFAULT next_snowflake(), at bigint)")
	run(t, p.conn, "BEGIN; SELECT setval('pgflurry.lane', 2097152); SELECT next_snowflake()")
	ticks := func() int64 { return value[int64](t, p.conn, "SELECT pgflurry.ticks(clock_timestamp())") }
	for begun := ticks(); ticks() < begun+3000; { // more than two blocks of the mark, while others draw
		run(t, p.conn, "INSERT INTO item (at) SELECT generate_series(1, 5000)")
		server.Exec(t, p.url, "BEGIN; SELECT next_snowflake(); ROLLBACK")
	}
	run(t, p.conn, "COMMIT")
	drawn := value[int64](t, p.conn, "SELECT count(*) FROM item")
	if n := value[int64](t, p.conn, "SELECT count(DISTINCT id) FROM item"); n != drawn {
		t.Errorf("%d IDs of %d came twice", drawn-n, drawn)
	}
	// One commit a tick would be a thousand a second.
	n := value[int64](t, p.conn, "SELECT max(n) FROM (SELECT count(*) AS n FROM item GROUP BY id >> 22) AS tick")
	if n < 100 {
		t.Errorf("no tick has more than %d IDs", n)
	}
}

func TestATickThatWasStartedForEverybodyIsNeverTakenForAFencedOne(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	next := func() (before, after int64) {
		raiser := server.Connect(t, p.url)
		run(t, p.conn, "SELECT setval('pgflurry.lane', 2097152)")
		run(t, raiser, "BEGIN; SELECT next_snowflake()") // in a tick that is a second ahead of the clock
		before = value[int64](t, p.conn, "SELECT next_snowflake()") >> 22
		// pretend that the tick was confirmed for everybody
		run(t, p.conn, fmt.Sprintf("SELECT setval('pgflurry.confirmed', %d)", before+1))
		after = value[int64](t, p.conn, "SELECT next_snowflake()") >> 22
		run(t, raiser, "COMMIT")
		return before, after
	}
	if before, after := next(); after <= before {
		t.Errorf("after an ID of tick %d comes one of tick %d", before, after)
	}
	rewrite(t, p.conn, "pgflurry.advance_slowly(bigint)", "greatest(bound, other,", "greatest(other,", 1)
	if before, after := next(); after != before {
		t.Error("without the guard nothing is noticed")
	}
}

func TestTheStandInIsFencedToo(t *testing.T) {
	t.Parallel()
	p := newFencedPair(t)
	run(t, p.conn, "SELECT next_snowflake()")
	holder, first, second := server.Connect(t, p.url), server.Connect(t, p.url), server.Connect(t, p.url)
	run(t, p.conn, "SELECT setval('pgflurry.lane_stand_in', 2097152)") // START: the stand-in's lane after a crash
	server.Eventually(t, p.conn,
		"(SELECT last_value >> 22 FROM pgflurry.lane) < pgflurry.ticks(clock_timestamp() - interval '30 ms')")
	run(t, holder, "BEGIN; LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE")
	seen := map[int64]bool{}
	for _, conn := range []*pgx.Conn{first, second} {
		run(t, conn, "BEGIN")
		for _, id := range values[int64](t, conn, "SELECT next_snowflake() FROM generate_series(1, 500)") {
			if seen[id] || id&4095 >= share {
				t.Fatalf("ID %d comes again, or is not the stand-in's", id)
			}
			seen[id] = true
		}
		if value[bool](t, conn, "SELECT txid_current_if_assigned() IS NULL") {
			t.Error("the stand-in gives IDs without a commit that waits")
		}
	}
	run(t, first, "COMMIT")
	run(t, second, "COMMIT")
	run(t, first, "BEGIN; SELECT next_snowflake() FROM generate_series(1, 50)")
	if !value[bool](t, first, "SELECT txid_current_if_assigned() IS NULL") {
		t.Error("after a commit has waited, the stand-in still gives none to everybody")
	}
	run(t, first, "ROLLBACK")
}

func appendID(ids []int64, text []byte) []int64 {
	var id int64
	for _, digit := range text {
		id = id*10 + int64(digit-'0')
	}
	return append(ids, id)
}

package database

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// serve starts a proxy and waits until it answers for segments.
func serve(t testing.TB, direct, node string, more ...string) *program.Proxy {
	t.Helper()
	p := program.ServeUnleased(t, direct, node, more...)
	p.Line("next_segment() is answered from memory\"")
	return p
}

// nextOf returns max_id of a tag, which is its next number.
func nextOf(t testing.TB, conn *pgx.Conn, name string) int64 {
	t.Helper()
	return server.Value[int64](t, conn, "SELECT max_id FROM pgflurry.segment WHERE biz_tag = $1", name)
}

// span returns n numbers from first on.
func span(first int64, n int) (all []int64) {
	for i := range n {
		all = append(all, first+int64(i))
	}
	return all
}

func TestAProxyAnswersFromABlockOfTheRow(t *testing.T) {
	t.Parallel()
	direct := server.MigratedWith(t, allNames)
	tag(t, direct, "order", 2000)
	database, through := server.Connect(t, direct), server.Connect(t, serve(t, direct, "one").URL)
	var all []int64
	for _, query := range []string{
		"SELECT next_segment('order')", "SELECT public.next_segment('order') AS id",
		"SELECT pgflurry.next_segment('order')::bigint", "SELECT * FROM next_segments('order', 3)",
		"SELECT next_segment('order') FROM generate_series(1, 4)",
	} {
		all = append(all, numbers(t, through, query)...)
	}
	all = append(all, numbers(t, through, "SELECT next_segment($1)", "order")...)
	all = append(all, numbers(t, through, "SELECT * FROM next_segments($1, $2)", "order", 5)...)
	if !slices.Equal(all, span(1, 16)) {
		t.Errorf("the proxy gave %v, expected 1 to 16", all)
	}
	if text := server.Value[string](t, through, "SELECT next_segment('order')::text"); text != "17" {
		t.Errorf("as text: %q", text)
	}
	if next := nextOf(t, database, "order"); next != 2001 {
		t.Errorf("the row's next number is %d; a proxy reserves a block of 2000", next)
	}
	if n := numbers(t, database, "SELECT next_segment('order')"); n[0] != 2001 {
		t.Errorf("the function gave %d, expected the first number beyond the block", n[0])
	}
	// The proxy forwards any other form to the function.
	if n := numbers(t, through, "SELECT next_segment('order') + 0"); n[0] != 2002 {
		t.Errorf("a forwarded call gave %d", n[0])
	}
}

func TestAnOrderlyRestartOfAProxySkipsTheRestOfAHundredNumbers(t *testing.T) {
	t.Parallel()
	direct := server.MigratedWith(t, allNames)
	server.Exec(t, direct, "INSERT INTO pgflurry.segment (biz_tag) VALUES ('order')")
	var all []int64
	for range 4 {
		p := serve(t, direct, "one")
		all = append(all, numbers(t, server.Connect(t, p.URL), "SELECT next_segment('order')")...)
		p.Signal(syscall.SIGTERM)
		if n := skipped(t, p); n != 99 || p.End() != 0 {
			t.Errorf("it has skipped %d numbers, or ended in an error", n)
		}
	}
	if !slices.Equal(all, []int64{1, 101, 201, 301}) {
		t.Errorf("four proxies, one after the other, gave %v", all)
	}
}

func TestAnAnsweredDrawIsNotRolledBack(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	conn := server.Connect(t, serve(t, direct, "one").URL)
	for range 2 {
		server.Do(t, conn, "BEGIN")
		numbers(t, conn, "SELECT pgflurry.next_segment('order')")
		server.Do(t, conn, "ROLLBACK")
	}
	if n := numbers(t, conn, "SELECT pgflurry.next_segment('order')"); n[0] != 3 {
		t.Errorf("after two draws that were rolled back comes %d, expected 3", n[0])
	}
}

func TestATagIsFoundAtOnceAndAnUnknownOneIsTheFunctionsError(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	database, through := server.Connect(t, direct), server.Connect(t, serve(t, direct, "one").URL)
	if said := server.Refused(t, through, "42704", "SELECT pgflurry.next_segment('order')"); said.Hint == "" {
		t.Error("no hint")
	}
	server.Refused(t, through, "22023", "SELECT pgflurry.next_segment('')")
	server.Refused(t, through, "22023", "SELECT * FROM pgflurry.next_segments('order', 0)")
	tag(t, direct, "item", 2000)
	n := numbers(t, through, "SELECT pgflurry.next_segment('item')")
	if n[0] != 1 || nextOf(t, database, "item") != 2001 {
		t.Errorf("a new tag gave %d, and the row says %d; expected 1 from a block", n[0], nextOf(t, database, "item"))
	}
}

func TestARemovedTagStopsAndItsRestIsTold(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	p := serve(t, direct, "one")
	conn := server.Connect(t, p.URL)
	numbers(t, conn, "SELECT pgflurry.next_segment('order')")
	server.Exec(t, direct, "DELETE FROM pgflurry.segment WHERE biz_tag = 'order'")
	// a tenth of the block is used, so the proxy fetches and finds no row
	numbers(t, conn, "SELECT * FROM pgflurry.next_segments('order', 199)")
	if line := p.Line("the tag was removed"); program.Field(line, "skipped") != "1800" {
		t.Errorf("%q does not tell what was left", line)
	}
	server.Refused(t, conn, "42704", "SELECT pgflurry.next_segment('order')")
}

func TestARowThatHasForgottenABlockIsRaisedAndTheRestOfTheBlockIsNotGiven(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	p := serve(t, direct, "one")
	conn := server.Connect(t, p.URL)
	numbers(t, conn, "SELECT pgflurry.next_segment('order')")
	server.Exec(t, direct, `ALTER TABLE pgflurry.segment DISABLE TRIGGER guard_segment;
		UPDATE pgflurry.segment SET max_id = 1 WHERE biz_tag = 'order'`) // as after a failover that lost the commit
	numbers(t, conn, "SELECT * FROM pgflurry.next_segments('order', 199)") // a tenth is used: the proxy fetches
	if line := p.Line("the row of the tag has fallen back"); program.Field(line, "skipped") != "1800" {
		t.Errorf("%q does not tell what was left", line)
	}
	if n := numbers(t, conn, "SELECT pgflurry.next_segment('order')"); n[0] != 2001 {
		t.Errorf("it goes on with %d, expected 2001", n[0])
	}
	if next := nextOf(t, server.Connect(t, direct), "order"); next != 4001 {
		t.Errorf("the row says %d, expected 4001", next)
	}
}

// skipped returns the number that a proxy logs at its end for numbers that it leaves unused.
func skipped(t testing.TB, p *program.Proxy) int64 {
	t.Helper()
	n, err := strconv.ParseInt(program.Field(p.Line("numbers are left and skipped"), "skipped"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestProxiesAndFunctionSessionsNeverCollideAndEveryNumberIsAccountedFor(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 100) // small blocks: many fetches beside the function's locks
	proxies := []*program.Proxy{serve(t, direct, "one"), serve(t, direct, "two"), serve(t, direct, "three")}
	var mu sync.Mutex
	var all []int64
	var drawing sync.WaitGroup
	for i := range 9 {
		// Through a proxy, draw one by one. If a proxy cannot complete a larger draw in time, the function draws it
		// instead, and the proxy's part becomes a gap.
		url, most := direct, 40
		if i >= len(proxies) {
			url, most = proxies[i%len(proxies)].URL, 1
		}
		conn, ctx := server.Connect(t, url), server.Within(t)
		drawing.Go(func() {
			for j := range 150 {
				drawn, err := tryNumbers(ctx, conn, "SELECT * FROM pgflurry.next_segments('order', $1)", 1+(j+i)%most)
				if err != nil {
					t.Error(err)
					return
				}
				if !slices.IsSorted(drawn) {
					t.Errorf("one call gave %v", drawn)
				}
				mu.Lock()
				all = append(all, drawn...)
				mu.Unlock()
			}
		})
	}
	drawing.Wait()
	count := int64(len(all))
	for _, p := range proxies {
		p.Signal(syscall.SIGTERM)
		count += skipped(t, p)
		if code := p.End(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.Fatalf("%d came twice", all[i])
		}
	}
	// Clients got each number below the row's next one, or a proxy logged it as skipped. So no fetch and no draw took a
	// number without using it.
	next := nextOf(t, server.Connect(t, direct), "order")
	if all[0] != 1 || all[len(all)-1] >= next {
		t.Errorf("numbers from %d to %d, though the row says %d", all[0], all[len(all)-1], next)
	}
	if count != next-1 {
		t.Errorf("%d numbers were given or skipped, of %d", count, next-1)
	}
}

func TestAKilledProxyNeverGivesItsNumbersAgain(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 100)
	seen := map[int64]bool{}
	for range 4 {
		p := serve(t, direct, "same node")
		conn := server.Connect(t, p.URL)
		for range 20 {
			for _, n := range numbers(t, conn, "SELECT * FROM pgflurry.next_segments('order', 7)") {
				if seen[n] { // PostgreSQL gives some in between if a block is late
					t.Fatalf("%d comes again", n)
				}
				seen[n] = true
			}
		}
		p.Signal(syscall.SIGKILL)
		p.End()
	}
}

func TestWithoutTheRightToReserveOrWithAnotherFunctionOfTheNameTheCallIsForwarded(t *testing.T) {
	t.Parallel()
	const short = "SELECT next_segment('order')"
	for name, c := range map[string]struct {
		change, query, says string
		qualified           bool // the proxy answers calls that name schema pgflurry in any case
	}{
		"EXECUTE was revoked": {
			"REVOKE EXECUTE ON FUNCTION pgflurry.next_segment(text) FROM PUBLIC",
			short, "PUBLIC lacks EXECUTE", false,
		},
		"another one beside ours": {
			"CREATE FUNCTION pgflurry.next_segment(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
			"SELECT pgflurry.next_segment('order')", "pgflurry.next_segment(integer)", false,
		},
		"another one in public": {
			"CREATE FUNCTION public.next_segment(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
			short, "next_segment(integer)", true,
		},
		"the alias was replaced": {
			"CREATE OR REPLACE FUNCTION public.next_segment(tag text) RETURNS bigint LANGUAGE sql " +
				"AS 'SELECT pgflurry.next_segment(tag)'",
			"SELECT public.next_segment('order')", "next_segment(text)", true,
		},
		"another one elsewhere": {
			"CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO PUBLIC; " +
				"CREATE FUNCTION other.next_segment(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
			short, "other.next_segment(text)", true,
		},
		"the role may not reserve": {
			"CREATE ROLE cannot_reserve LOGIN; CALL pgflurry.grant_lease('cannot_reserve', workers => '(,)')",
			short, "CALL pgflurry.grant_lease('cannot_reserve')", false,
		},
		"pgflurry cannot be reached": {
			"REVOKE USAGE ON SCHEMA pgflurry FROM PUBLIC", "SELECT public.next_segment('order')",
			"PUBLIC lacks EXECUTE", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := server.MigratedWith(t, allNames)
			tag(t, direct, "order", 2000)
			server.Exec(t, direct, c.change)
			lease := direct
			if name == "the role may not reserve" {
				lease = server.As(t, direct, "cannot_reserve", "")
				t.Cleanup(func() { server.Exec(t, direct, "DROP OWNED BY cannot_reserve; DROP ROLE cannot_reserve") })
			}
			p := program.ServeUnleased(t, direct, "one", "--lease-database", lease)
			p.Line("next_segment() is ", c.says)
			through, database := server.Connect(t, p.URL), server.Connect(t, direct)
			numbers(t, through, c.query)
			if next := nextOf(t, database, "order"); next != 2 {
				t.Errorf("the row says %d, expected that the call itself drew number 1", next)
			}
			if !c.qualified {
				numbers(t, through, "SELECT pgflurry.next_segment('order')")
				if next := nextOf(t, database, "order"); next != 3 {
					t.Errorf("the row says %d after a call with schema pgflurry, expected that it drew number 2", next)
				}
				return
			}
			for next := int64(2); ; { // on a busy machine a block comes too late for the call that asks for it
				numbers(t, through, "SELECT pgflurry.next_segment('order')")
				before := next
				if next = nextOf(t, database, "order"); next == before {
					break // the answer came from memory
				} else if next > 100 && next < 2000 {
					t.Fatalf("the row says %d: calls with schema pgflurry are forwarded", next)
				}
			}
		})
	}
}

func TestWithoutShortNamesCallsWithTheirSchemaAreAnsweredAndThatIsNoFault(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 2000)
	p := serve(t, direct, "one")
	p.Leased()
	line := p.Line("next_segment() is answered from memory")
	if !strings.Contains(line, `level=INFO msg="pgflurry.next_segment() is answered from memory"`) ||
		strings.Contains(line, "cause=") {
		t.Errorf("the log says %s", line)
	}
	database, through := server.Connect(t, direct), server.Connect(t, p.URL)
	for _, query := range []string{"SELECT next_segment('order')", "SELECT * FROM public.next_segments('order', 2)"} {
		server.Refused(t, database, "42883", query) // PostgreSQL itself knows no such function
		server.Refused(t, through, "42883", query)
	}
	n, next := numbers(t, through, "SELECT pgflurry.next_segment('order')"), nextOf(t, database, "order")
	if n[0] != 1 || next != 2001 {
		t.Errorf("number %d, and the row says %d; expected 1 from a block", n, next)
	}
	// the function is reachable by a search_path, which the proxy does not follow: the function answers
	server.Do(t, through, `SET search_path = "$user", public, pgflurry`)
	if n := numbers(t, through, "SELECT next_segment('order')"); n[0] != 2001 {
		t.Errorf("number %d; expected 2001 from the row", n)
	}
	if n := numbers(t, through, "SELECT pgflurry.next_segment('order')"); n[0] != 2 {
		t.Errorf("number %d; expected 2 from the block", n)
	}
	worker := server.Value[int](t, server.Connect(t, p.URL), "SELECT snowflake_worker($1)",
		server.Value[int64](t, through, "SELECT next_snowflake()"))
	if worker == 0 {
		t.Error("with schema pgflurry in the search_path IDs come from the function, not from the proxy")
	}
}

func TestEachDatabaseHasItsOwnTags(t *testing.T) {
	t.Parallel()
	home, other := server.Migrated(t), server.Database(t)
	if err := migrations.Up(server.Within(t), other, migrations.Settings{JoinURL: home}); err != nil {
		t.Fatal(err)
	}
	tag(t, home, "order", 2000)
	tag(t, other, "order", 10)
	server.Exec(t, other, "UPDATE pgflurry.segment SET max_id = 501 WHERE biz_tag = 'order'")
	p := serve(t, home, "one", "--databases", server.Name(t, home)+","+server.Name(t, other))
	p.Line("next_segment() is answered", "database="+server.Name(t, other))
	there := server.Connect(t, server.In(t, p.URL, server.Name(t, other)))
	here := server.Connect(t, p.URL)
	a := numbers(t, here, "SELECT pgflurry.next_segment('order')")[0]
	b := numbers(t, there, "SELECT pgflurry.next_segment('order')")[0]
	if a != 1 || b != 501 {
		t.Errorf("the databases gave %d and %d, expected 1 and 501", a, b)
	}
	if next := nextOf(t, server.Connect(t, other), "order"); next != 511 && next != 521 {
		t.Errorf("the other database's row says %d, expected one or two blocks of its own step", next)
	}
}

// A transaction that draws by the function holds the row's lock. The proxy goes on with the numbers that it has. After
// that its callers wait as others do.
func TestALockedRowBlocksNobodyWhileThereAreNumbers(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 1000)
	through := server.Connect(t, serve(t, direct, "one").URL)
	first := numbers(t, through, "SELECT pgflurry.next_segment('order')")[0]
	holder := server.Connect(t, direct)
	// Where the block comes late, the function has given the first number, before the block.
	server.Eventually(t, holder, "(SELECT max_id > 1000 FROM pgflurry.segment WHERE biz_tag = 'order')")
	left := nextOf(t, holder, "order") - 1 - first
	server.Do(t, holder, "BEGIN; SELECT pgflurry.next_segment('order')")
	numbers(t, through, fmt.Sprintf("SELECT * FROM pgflurry.next_segments('order', %d)", left))
	ctx, cancel := context.WithCancel(server.Within(t))
	result := make(chan error, 1)
	go func() {
		_, err := tryNumbers(ctx, through, "SELECT pgflurry.next_segment('order')")
		result <- err
	}()
	server.Eventually(t, server.Connect(t, direct),
		"EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' "+
			"AND datname = current_database() AND query LIKE 'SELECT pgflurry.next_segment%')")
	server.Do(t, holder, "COMMIT")
	if err := <-result; err != nil {
		t.Error(err)
	}
	cancel()
}

func TestStepsFollowTheClockOfTheProxy(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tag(t, direct, "order", 10)
	p := program.StartSteered(t, program.ServeArgs(t, direct, "one")...)
	proxy := p.Proxy(direct)
	p.Line("next_segment() is answered from memory\"")
	database, through := server.Connect(t, direct), server.Connect(t, proxy.URL)
	// A block of 10, and one of 20, because the first lasted only a moment.
	numbers(t, through, "SELECT * FROM pgflurry.next_segments('order', 10)")
	if nextOf(t, database, "order") == 11 {
		becomes(t, database, 11, 31)
	}
	p.Steer("monotonic=1h")
	// The second block has lasted an hour, so the next one has 10 again.
	numbers(t, through, "SELECT * FROM pgflurry.next_segments('order', 20)")
	becomes(t, database, 31, 41)
	for grew := int64(0); grew < 640; { // blocks that are used up quickly double
		was := nextOf(t, database, "order")
		numbers(t, through, "SELECT * FROM pgflurry.next_segments('order', 10)")
		grew = max(grew, nextOf(t, database, "order")-was)
	}
}

// becomes waits until the row's number is no longer from, and expects to.
func becomes(t testing.TB, conn *pgx.Conn, from, to int64) {
	t.Helper()
	server.Eventually(t, conn, "(SELECT max_id <> $1 FROM pgflurry.segment WHERE biz_tag = 'order')", from)
	if next := nextOf(t, conn, "order"); next != to {
		t.Fatalf("the row's next number went from %d to %d, expected %d", from, next, to)
	}
}

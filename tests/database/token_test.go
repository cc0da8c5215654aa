package database

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

func TestATokenIsRedeemedOnceAndOnlyBeforeItExpires(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	token := server.Value[int64](t, conn, "SELECT pgflurry.issue_token('1 hour')")
	got := server.Values[bool](t, conn, "SELECT pgflurry.redeem_token($1) FROM generate_series(1, 3)", token)
	if !got[0] || got[1] || got[2] {
		t.Errorf("redeemed three times: %v, want true once", got)
	}
	token = server.Value[int64](t, conn, "SELECT pgflurry.issue_token('1 hour')")
	server.Do(t, conn, "UPDATE pgflurry.token SET expires_at = clock_timestamp()") // as if the hour had passed
	if server.Value[bool](t, conn, "SELECT pgflurry.redeem_token($1)", token) {
		t.Error("an expired token is redeemed")
	}
	if server.Value[bool](t, conn, "SELECT pgflurry.redeem_token(1)") ||
		server.Value[bool](t, conn, "SELECT pgflurry.redeem_token(-1)") {
		t.Error("a token that was never issued is redeemed")
	}
	token = server.Value[int64](t, conn, "SELECT pgflurry.issue_token('10 minutes')")
	left := server.Value[float64](t, conn,
		"SELECT extract(epoch FROM expires_at - snowflake_time(token))::float8 FROM pgflurry.token WHERE token = $1",
		token)
	if left < 590 || left > 610 {
		t.Errorf("a token of ten minutes expires %v s after its ID was made", left)
	}
}

func TestRedeemingGoesWithTheTransactionThatDoesTheWork(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE work (n int)")
	token := server.Value[int64](t, conn, "SELECT pgflurry.issue_token('1 hour')")
	attempt := func(end string) {
		server.Do(t, conn, "BEGIN")
		if !server.Value[bool](t, conn, "SELECT pgflurry.redeem_token($1)", token) {
			t.Errorf("before %s the token is not good any more", end)
		}
		server.Do(t, conn, "INSERT INTO work VALUES (1); "+end)
	}
	attempt("ROLLBACK")
	if n := server.Value[int](t, conn, "SELECT count(*) FROM work"); n != 0 {
		t.Errorf("%d rows of work after the rollback", n)
	}
	attempt("COMMIT")
	if n := server.Value[int](t, conn, "SELECT count(*) FROM work"); n != 1 ||
		server.Value[bool](t, conn, "SELECT pgflurry.redeem_token($1)", token) {
		t.Errorf("after the commit: %d rows of work, or the token is still good", n)
	}
}

// race lets one session redeem a token in an open transaction, and a second session wait for it. Then it ends the first
// transaction and returns the result of the second session.
func race(t *testing.T, url, end string) bool {
	t.Helper()
	a, b, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	token := server.Value[int64](t, a, "SELECT pgflurry.issue_token('1 hour')")
	server.Do(t, a, "BEGIN")
	if !server.Value[bool](t, a, "SELECT pgflurry.redeem_token($1)", token) {
		t.Error("the first redeemer loses")
	}
	second, ctx := make(chan bool, 1), server.Within(t)
	go func() {
		var won bool
		if err := b.QueryRow(ctx, "SELECT pgflurry.redeem_token($1)", token).Scan(&won); err != nil {
			t.Error(err)
		}
		second <- won
	}()
	server.Blocked(t, watch, 1)
	server.Do(t, a, end)
	return <-second
}

func TestOfTwoConcurrentRedeemersOneWins(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	if race(t, url, "COMMIT") {
		t.Error("both redeemers of a token won")
	}
	if !race(t, url, "ROLLBACK") {
		t.Error("the first redeemer rolled back, and the second did not get the token")
	}
}

// Why redeem_token need not tell the three apart.
func TestATokenThatIsTheKeyOfTheResultTellsDoneFromExpiredAndGivesTheEarlierResult(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, "CREATE TABLE payment (token bigint PRIMARY KEY, id bigint DEFAULT next_snowflake())")
	pays := func(token int64) (done bool, id int64) {
		t.Helper()
		run(t, conn, "BEGIN")
		if value[bool](t, conn, "SELECT pgflurry.redeem_token($1)", token) {
			run(t, conn, fmt.Sprintf("INSERT INTO payment (token) VALUES (%d)", token))
		}
		const earlier = "SELECT coalesce(max(id), 0) FROM payment WHERE token = $1"
		id = value[int64](t, conn, earlier, token)
		run(t, conn, "COMMIT")
		return id != 0, id
	}
	token := value[int64](t, conn, "SELECT pgflurry.issue_token('1 hour')")
	done, first := pays(token)
	again, second := pays(token)
	if !done || !again || first != second {
		t.Errorf("the first request gave %v %d, and its repetition %v %d", done, first, again, second)
	}
	expired := value[int64](t, conn, "SELECT pgflurry.issue_token('1 hour')")
	run(t, conn, "UPDATE pgflurry.token SET expires_at = now() - interval '1 s'")
	for name, token := range map[string]int64{"expired": expired, "never issued": 1} {
		if done, id := pays(token); done {
			t.Errorf("a token that was %s gave %d", name, id)
		}
	}
}

func TestExpiredTokensAreCleanedInBatchesAndTheOthersStay(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `SELECT pgflurry.issue_token('1 hour') FROM generate_series(1, 25);
		UPDATE pgflurry.token SET expires_at = clock_timestamp() - interval '1 s'
			WHERE token IN (SELECT token FROM pgflurry.token LIMIT 22)`)
	holder := server.Connect(t, url) // must not delay the cleaning
	server.Do(t, holder, "BEGIN; SELECT FROM pgflurry.token WHERE expires_at < clock_timestamp() LIMIT 2 FOR UPDATE")
	var cleaned []int
	for range 3 {
		cleaned = append(cleaned, server.Value[int](t, conn, "SELECT pgflurry.clean_tokens(10)"))
	}
	if cleaned[0] != 10 || cleaned[1] != 10 || cleaned[2] != 0 {
		t.Errorf("cleaned in batches of %v, want 10, 10, 0: two are locked", cleaned)
	}
	server.Do(t, holder, "ROLLBACK")
	if n := server.Value[int](t, conn, "SELECT pgflurry.clean_tokens()"); n != 2 {
		t.Errorf("%d were cleaned, want the 2 that were locked", n)
	}
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pgflurry.token"); n != 3 {
		t.Errorf("%d tokens are left, want the 3 that are good", n)
	}
}

// through opens a connection that keeps nothing in the session, as a pooler in transaction mode needs it.
func through(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	return server.Connect(t, url+"&default_query_exec_mode=exec")
}

// after calls a function while another session holds the row's lock. The row lives for a second, and the lock ends only
// after that. It returns the result of the call.
func after(t *testing.T, url, table, call string) bool {
	t.Helper()
	holder, caller, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, holder, "BEGIN; SELECT FROM "+table+" FOR UPDATE")
	got, ctx := make(chan bool, 1), server.Within(t)
	go func() {
		var is bool
		if err := caller.QueryRow(ctx, "SELECT "+call).Scan(&is); err != nil {
			t.Error(err)
		}
		got <- is
	}()
	server.Blocked(t, watch, 1)
	server.Do(t, holder, "SELECT pg_sleep_until(expires_at) FROM "+table+"; ROLLBACK")
	return <-got
}

func TestATokenAndALockThatExpireWhileACallWaitsForAnotherTransactionAreExpired(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "SELECT pgflurry.try_lock('door', 'ann', '1 s')")
	if after(t, url, "pgflurry.lock", "pgflurry.renew_lock('door', 'ann', '1 hour')") {
		t.Error("a lock that had expired is renewed")
	}
	server.Do(t, conn, "SELECT pgflurry.issue_token('1 s')")
	if after(t, url, "pgflurry.token", "pgflurry.redeem_token((SELECT token FROM pgflurry.token))") {
		t.Error("a token that had expired is redeemed")
	}
}

func TestABatchOfCleaningIsNoLargerThanAskedForWhateverThePlannerKnowsOfTheTable(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `INSERT INTO pgflurry.token VALUES (0, now() - interval '1 hour');
		INSERT INTO pgflurry.lock (name, expires_at) VALUES ('0', now() - interval '1 hour')`)
	server.Do(t, conn, "VACUUM ANALYZE pgflurry.token, pgflurry.lock") // else the planner expects tables of one row
	server.Do(t, conn, `INSERT INTO pgflurry.token SELECT n, now() - interval '1 hour' FROM generate_series(1, 50) AS n;
		INSERT INTO pgflurry.lock (name, expires_at) SELECT n, now() - interval '1 hour'
			FROM generate_series(1, 50) AS n`)
	tokens := server.Value[int](t, conn, "SELECT pgflurry.clean_tokens(10)")
	locks := server.Value[int](t, conn, "SELECT pgflurry.clean_locks(10)")
	if tokens != 10 || locks != 10 {
		t.Errorf("%d tokens and %d locks were cleaned in a batch of 10", tokens, locks)
	}
}

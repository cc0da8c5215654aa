package database

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// try takes a lock for an hour. It returns 0 if somebody else has the lock.
func try(t *testing.T, conn *pgx.Conn, name, owner string) int64 {
	t.Helper()
	return server.Value[int64](t, conn, "SELECT coalesce(pgflurry.try_lock($1, $2, '1 hour'), 0)", name, owner)
}

func TestALockHasOneOwnerUntilHeReleasesItOrItExpires(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	is := func(want bool, query string) {
		t.Helper()
		if got := server.Value[bool](t, conn, "SELECT "+query); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	first := try(t, conn, "door", "ann")
	if first == 0 || try(t, conn, "door", "bob") != 0 || try(t, conn, "door", "ann") != 0 {
		t.Error("a lock that is held is given out again, or one that is free is not")
	}
	is(false, "pgflurry.unlock('door', 'bob')")
	is(false, "pgflurry.renew_lock('door', 'bob', '1 s')")
	is(true, "pgflurry.renew_lock('door', 'ann', '2 hours')")
	is(true, "EXISTS (SELECT FROM pgflurry.lock WHERE expires_at > clock_timestamp() + interval '119 minutes')")
	is(true, "pgflurry.unlock('door', 'ann')")
	is(false, "pgflurry.unlock('door', 'ann')")
	is(false, "pgflurry.renew_lock('door', 'ann', '1 s')")
	second := try(t, conn, "door", "bob")
	server.Do(t, conn, "UPDATE pgflurry.lock SET expires_at = clock_timestamp()") // as if the hour had passed
	is(false, "pgflurry.unlock('door', 'bob')")
	is(false, "pgflurry.renew_lock('door', 'bob', '1 s')")
	third := try(t, conn, "door", "ann")
	if first >= second || second >= third {
		t.Errorf("fencing tokens %d, %d, %d do not rise", first, second, third)
	}
	is(false, "pgflurry.unlock('door', 'bob')")
	is(true, "pgflurry.try_lock('gate', 'bob', '1 ms') IS NOT NULL")
}

func TestFencingTokensRiseAlsoAfterARollbackAndAfterTheRowIsCleanedAway(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	var last int64
	rises := func() {
		t.Helper()
		token := try(t, conn, "door", "ann")
		if token <= last {
			t.Errorf("fencing token %d follows %d", token, last)
		}
		last = token
	}
	server.Do(t, conn, "BEGIN")
	rises()
	server.Do(t, conn, "ROLLBACK")
	rises()
	server.Do(t, conn, "SELECT pgflurry.unlock('door', 'ann')")
	if n := server.Value[int](t, conn, "SELECT pgflurry.clean_locks()"); n != 0 {
		t.Errorf("%d locks were cleaned that were free for less than a minute", n)
	}
	server.Do(t, conn, `SELECT pgflurry.try_lock('held', 'ann', '1 hour');
		UPDATE pgflurry.lock SET expires_at = clock_timestamp() - interval '61 s' WHERE name = 'door'`)
	if n := server.Value[int](t, conn, "SELECT pgflurry.clean_locks()"); n != 1 {
		t.Errorf("%d locks were cleaned, want the one that has been free for a minute", n)
	}
	rises()
}

func TestOfManyThatTryAtOnceOneGetsTheLockAndNobodyWaitsForAnOpenTransaction(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	var mu sync.Mutex
	var tokens []int64
	at(t, 8, func(ctx context.Context, conn *pgx.Conn) error {
		for range 40 {
			var token int64
			const lock = "SELECT coalesce(pgflurry.try_lock('door', pg_backend_pid()::text, '1 hour'), 0)"
			err := conn.QueryRow(ctx, lock).Scan(&token)
			if err != nil {
				return err
			}
			if token == 0 {
				continue
			}
			mu.Lock()
			if n := len(tokens); n > 0 && tokens[n-1] >= token {
				t.Errorf("the lock was given with %d after %d", token, tokens[n-1])
			}
			tokens = append(tokens, token)
			mu.Unlock()
			var mine bool
			err = conn.QueryRow(ctx, "SELECT pgflurry.unlock('door', pg_backend_pid()::text)").Scan(&mine)
			if err != nil || !mine {
				t.Errorf("the owner could not unlock: %v", err)
			}
		}
		return nil
	}, url)
	if len(tokens) == 0 {
		t.Error("nobody got the lock")
	}
	holder, conn := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, holder, "BEGIN; SELECT pgflurry.try_lock('door', 'slow', '1 hour')")
	server.Do(t, conn, "SET statement_timeout = '5 s'")
	if token := try(t, conn, "door", "quick"); token != 0 {
		t.Errorf("the lock was given with %d while another transaction is taking it", token)
	}
	server.Do(t, holder, "ROLLBACK")
	if try(t, conn, "door", "quick") == 0 {
		t.Error("the lock is not free after the rollback")
	}
}

func TestLocksAndTokensWorkThroughAPoolerInTransactionMode(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	pooled := server.Pooler(t, url, 1) // all clients share one server session
	ann, bob := through(t, pooled), through(t, pooled)
	first := try(t, ann, "door", "ann")
	if first == 0 || try(t, bob, "door", "bob") != 0 {
		t.Error("the lock was not given, or twice")
	}
	ann.Close(server.Within(t)) // her connection does not hold the lock
	if try(t, bob, "door", "bob") != 0 {
		t.Error("the lock went with a connection")
	}
	if !server.Value[bool](t, bob, "SELECT pgflurry.unlock('door', 'ann')") || try(t, bob, "door", "bob") <= first {
		t.Error("the lock is not free after unlock, or the fencing token does not rise")
	}
	token := server.Value[int64](t, bob, "SELECT pgflurry.issue_token('1 hour')")
	if !server.Value[bool](t, through(t, pooled), "SELECT pgflurry.redeem_token($1)", token) ||
		server.Value[bool](t, bob, "SELECT pgflurry.redeem_token($1)", token) {
		t.Error("a token is not redeemed once")
	}
}

func TestASessionThatKeepsItsTransactionOpenHoldsUpItsOwnNamesAndNoOthers(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	holder, conn := server.Connect(t, url), server.Connect(t, url)
	draw := func(name string) string {
		return strings.ReplaceAll(`SELECT pgflurry.next_auto_increment('NAME'), pgflurry.next_replace_id('NAME'),
			pgflurry.incr('NAME'), pgflurry.next_segment('NAME'), pgflurry.issue_token('1 hour'),
			pgflurry.try_lock('NAME', 'me', '1 hour'), next_snowflake()`, "NAME", name)
	}
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name) VALUES ('held'), ('free');
		INSERT INTO pgflurry.segment (biz_tag) VALUES ('held'), ('free')`)
	server.Do(t, holder, "BEGIN; "+draw("held"))
	server.Do(t, conn, "SET statement_timeout = '3s'; "+draw("free")+"; "+draw("free"))
	server.Refused(t, conn, "57014", "SELECT pgflurry.incr('held')")
}

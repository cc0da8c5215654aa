package relay

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// docs/protocol.md lists how an answered batch differs. Here is what PostgreSQL does, and what the proxy does.

// both opens the same session directly and through a proxy.
func both(t *testing.T, direct string, more ...string) (straight, proxied *raw) {
	t.Helper()
	at, _ := through(t, direct)
	opened := func(url string) *raw {
		u := server.Parse(t, url)
		return open(t, u.Host, u.Path[1:], more...)
	}
	return opened(direct), opened(at)
}

// asks runs a Query and returns the value of its only row, or its error.
func (r *raw) asks(sql string) (value string) {
	r.t.Helper()
	r.say(query(sql))
	for _, m := range r.until('Z') {
		switch m[0] {
		case 'D':
			value = m[7:]
		case 'E':
			value = m
		}
	}
	return value
}

// The one that can matter: the transaction sees what was committed after its call for an ID.
func TestAnAnsweredCallTakesNoSnapshot(t *testing.T) {
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		direct := server.Migrated(t)
		writer := server.Connect(t, direct)
		server.Do(t, writer, "CREATE TABLE item (n int)")
		straight, proxied := both(t, direct)
		var seen []string
		for _, r := range []*raw{straight, proxied} {
			server.Do(t, writer, "TRUNCATE item")
			r.asks("BEGIN ISOLATION LEVEL " + level)
			r.asks(ours)
			server.Do(t, writer, "INSERT INTO item VALUES (1)")
			seen = append(seen, r.asks("SELECT count(*) FROM item"))
			server.Do(t, writer, "INSERT INTO item VALUES (2)")
			seen = append(seen, r.asks("SELECT count(*) FROM item"))
			r.asks("COMMIT")
		}
		if got := strings.Join(seen, " "); got != "0 0 1 1" {
			t.Errorf("%s: the rows seen are %s; expected 0 and 0 directly, 1 and 1 behind an answered call", level, got)
		}
	}
}

func TestAnAnsweredCallLeavesLastvalAlone(t *testing.T) {
	straight, proxied := both(t, server.Migrated(t))
	for i, r := range []*raw{straight, proxied} {
		r.asks("CREATE TEMP SEQUENCE own START 42")
		r.asks("SELECT nextval('own')")
		r.asks(ours)
		if own := r.asks("SELECT lastval()") == "42"; own != (i == 1) {
			t.Errorf("behind a call, session %d finds its own number in lastval(): %v", i, own)
		}
	}
}

func TestAnAnsweredCallHasNoNoticesOfDebugLevels(t *testing.T) {
	straight, proxied := both(t, server.Migrated(t), "options", "-c client_min_messages=debug5")
	for i, r := range []*raw{straight, proxied} {
		r.say(query(ours))
		if n := strings.Count("\n"+strings.Join(r.until('Z'), "\n"), "\nNSDEBUG"); (n > 0) != (i == 0) {
			t.Errorf("session %d got %d notices", i, n)
		}
	}
}

func TestAnAnsweredCallBringsNoNewsOfAReload(t *testing.T) {
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	server.Migrate(t, direct, migrations.Settings{})
	straight, proxied := both(t, direct)
	admin := server.Connect(t, direct)
	server.Do(t, admin, "ALTER SYSTEM SET TimeZone = 'Asia/Tokyo'")
	server.Do(t, admin, "SELECT pg_reload_conf()")
	// news asks until the reply has the new time zone. The signal needs a moment.
	news := func(r *raw, sql string) {
		for {
			r.say(query(sql))
			if strings.Contains(strings.Join(r.until('Z'), ""), "STimeZone\x00Asia/Tokyo\x00") {
				return
			}
		}
	}
	news(straight, ours)
	proxied.say(query(ours))
	if said := strings.Join(proxied.until('Z'), ""); strings.Contains(said, "TimeZone") {
		t.Errorf("an answered call brings %q", said)
	}
	news(proxied, "SELECT 1")
}

// The server has executed the batch when it is asked to end, and its replies leave with the FATAL error.
func TestABatchThatWaitsForItsSyncInTheProxyHasNoRepliesIfItsBackendIsTerminated(t *testing.T) {
	direct := server.Migrated(t)
	straight, proxied := both(t, direct)
	admin := server.Connect(t, direct)
	for r, want := range map[*raw]string{straight: "12E", proxied: "E"} {
		pid := r.asks("SELECT pg_backend_pid()")
		r.say(encode(&pgproto3.Parse{Query: ours}, &pgproto3.Bind{}))
		if r == straight {
			server.Eventually(t, admin, "EXISTS (SELECT FROM pg_stat_activity WHERE pid = "+pid+
				" AND query = $1 AND wait_event = 'ClientRead')", ours)
		}
		server.Do(t, admin, "SELECT pg_terminate_backend("+pid+")")
		var kinds string
		for _, m := range r.rest() {
			kinds += m[:1]
		}
		if kinds != want {
			t.Errorf("the session ended with the messages %q, expected %q", kinds, want)
		}
	}
}

func TestWhileABatchWaitsForItsSyncInTheProxyPostgreSQLIsIdle(t *testing.T) {
	straight, proxied := both(t, server.Migrated(t))
	limit := "SET idle_session_timeout = 300"
	begun := encode(&pgproto3.Parse{Query: ours}, &pgproto3.Bind{}, &pgproto3.Execute{})
	straight.say(append(query(limit), begun...)) // in one breath, so that it is never idle
	proxied.asks(limit)
	proxied.say(begun)
	if said := proxied.rest(); len(said) != 1 || !strings.Contains(said[0], "VFATAL\x00C57P05") {
		t.Errorf("the proxied session ended with %q; expected PostgreSQL's FATAL 57P05", said)
	}
	straight.say(encode(&pgproto3.Sync{})) // it has waited for as long
	straight.until('D')
}

//go:build unix

package node_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/config"
	"pgflurry/report"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

// quietly are settings of a node with an ID database that is soon quiet, in front of a database with a tag.
func quietly(t testing.TB, name string) config.Given {
	t.Helper()
	s := withAccount(t, name)
	s.QuietAfter = time.Second
	server.Exec(t, s.LeaseDatabase, "INSERT INTO pgflurry.segment (biz_tag) VALUES ('order')")
	return s
}

// becomesQuiet waits until nobody has needed the node for a while. It returns since when it is quiet.
func (r *running) becomesQuiet(t testing.TB) time.Time {
	t.Helper()
	return r.until(t, "that it is quiet", func(s report.State) bool {
		return !s.QuietSince.IsZero() && !s.Lease.Held && s.Lease.Cause != ""
	}).QuietSince
}

// wokeUp waits until IDs come from memory again, after it was quiet since then.
func (r *running) wokeUp(t testing.TB, since time.Time) {
	t.Helper()
	r.until(t, "that it is awake", func(s report.State) bool {
		return s.QuietSince.IsZero() && !s.Woken.Before(since) && s.Lease.Held && s.Databases[0].IDs == "all"
	})
}

// inside opens a session of the ID database.
func (r *running) inside(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(server.Within(t), r.idConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(server.Within(t)) })
	return conn
}

// fromMemory draws until an ID is of the proxy's worker, and returns all. The proxy answers once it has looked.
func (r *running) fromMemory(t testing.TB, conn *pgx.Conn) (ids []int64) {
	t.Helper()
	for limit := time.Now().Add(server.Patience); time.Now().Before(limit); {
		id, worker := draw(t, conn)
		if ids = append(ids, id); worker != functionWorker {
			return ids
		}
	}
	t.Fatal("no ID came from memory")
	return nil
}

const others = `SELECT count(*) FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

func TestInvariant9AQuietNodeHasNoWorkerNoConnectionAndAsksNothing(t *testing.T) {
	server.NoLeak(t)
	s := quietly(t, "sleeper")
	direct := s.LeaseDatabase
	watched := server.Connect(t, direct)
	tests := server.Value[int64](t, watched, others)
	way, through := network.Behind(t, direct)
	s.LeaseDatabase, s.Upstream = through, way.Address()
	r := start(t, s)
	r.direct = direct
	r.answers(t)
	session, inside := r.connect(t), r.inside(t)
	draw(t, session)
	server.Value[int64](t, session, "SELECT pgflurry.next_segment('order')")
	server.Value[int64](t, inside, "SELECT next_snowflake()")
	if n := server.Value[int64](t, watched, others) - tests; n < 4 {
		t.Errorf("awake it has %d connections, with the client's", n)
	}
	since := r.becomesQuiet(t)
	server.Eventually(t, watched, "("+others+") = $1", tests+1) // the client's
	if !server.Value[bool](t, watched, "SELECT released_at IS NOT NULL FROM pgflurry.worker WHERE node = 'sleeper'") {
		t.Error("the worker is not released")
	}
	// a node that is awake looks meanwhile, three times
	begun := way.Taken(0)
	awake := start(t, settings(t, direct, "awake"))
	awake.answers(t)
	awake.looked(t)
	awake.looked(t)
	if again := way.Taken(0); again != begun {
		t.Errorf("quiet it has opened %d connections", again-begun)
	}
	st := r.State()
	if d := st.Databases[0]; st.QuietSince != since || d.IDs != "none" || !d.Judged.IsZero() ||
		!st.Workers.Read.IsZero() || st.IDDatabase.Accounts.Count != 0 || st.Sessions.Now != 1 ||
		st.Lease.Acquisitions["ok"] != 1 {
		t.Errorf("quiet it reports %+v", st)
	}
	text, _ := r.log.read()
	for line, n := range map[string]int{"msg=\"quiet: ": 1, "msg=\"awake: ": 0, "level=WARN": 0, "level=ERROR": 0} {
		if got := strings.Count(text, line); got != n {
			t.Errorf("the log has %d lines with %s, expected %d:\n%s", got, line, n, text)
		}
	}
}

func TestInvariant9WhatANodeKnewBeforeItWasQuietIsNotAnsweredAfterIt(t *testing.T) {
	server.NoLeak(t)
	s := quietly(t, "forgetful")
	s.Databases = []string{server.Name(t, s.LeaseDatabase)}
	link, _ := network.To(t, s.LeaseDatabase)
	s.Upstream = link.Address()
	r := start(t, s)
	r.answers(t)
	first, second := r.connect(t), r.connect(t)
	draw(t, second)
	since := r.becomesQuiet(t)
	server.Exec(t, r.direct, "DELETE FROM pgflurry.client")
	link.Silence() // no look is answered, but the lease database is
	var hanging sync.WaitGroup
	for i, conn := range []*pgx.Conn{first, second} {
		hanging.Go(func() { _, _ = conn.Exec(server.Within(t), "SELECT next_snowflake()") })
		r.until(t, "a call that it forwards", func(s report.State) bool {
			return s.Answers.Declined["not_answerable"] > int64(i)
		})
		r.until(t, "a worker", func(s report.State) bool { return s.Lease.Held && !s.Woken.Before(since) })
	}
	if st := r.State(); st.Answers.IDs != 1 {
		t.Errorf("before a look %d IDs are given", st.Answers.IDs-1)
	}
	if conn, err := pgx.ConnectConfig(server.Within(t), r.idConfig(t)); err == nil {
		conn.Close(server.Within(t))
		t.Error("an account that is gone has logged in")
	}
	link.Heal()
	hanging.Wait()
}

func TestInvariant10EachKindOfClientWakesANodeAndGetsWhatItAsksFor(t *testing.T) {
	server.NoLeak(t)
	r := start(t, quietly(t, "woken"))
	r.answers(t)
	session, inside := r.connect(t), r.inside(t)
	seen := make(map[int64]bool)
	var since time.Time
	for _, c := range []struct {
		name string
		come func() []int64
	}{
		{"a login", func() []int64 {
			conn := r.connect(t)
			r.wokeUp(t, since)
			return r.fromMemory(t, conn)
		}},
		{"a draw in a session", func() []int64 { return r.fromMemory(t, session) }},
		{"a login to the ID database", func() []int64 {
			return []int64{server.Value[int64](t, r.inside(t), "SELECT next_snowflake()")}
		}},
		{"a draw in the ID database", func() []int64 {
			return server.Values[int64](t, inside, "SELECT next_snowflake() FROM generate_series(1, 1000)")
		}},
		{"a number in the ID database", func() []int64 {
			return []int64{-server.Value[int64](t, inside, "SELECT next_segment('order')")}
		}},
		{"a number in a session", func() []int64 {
			return []int64{-server.Value[int64](t, session, "SELECT pgflurry.next_segment('order')")}
		}},
	} {
		since = r.becomesQuiet(t)
		for _, id := range c.come() {
			if seen[id] {
				t.Errorf("%s: %d came twice", c.name, id)
			}
			seen[id] = true
		}
		r.wokeUp(t, since)
	}
	if refused := r.State().IDDatabase.Refused["no_ids"]; refused != 0 {
		t.Errorf("%d statements of the ID database got no IDs", refused)
	}
}

func TestWhatIsNoClientDoesNotWakeANode(t *testing.T) {
	server.NoLeak(t)
	r := start(t, quietly(t, "undisturbed"))
	r.answers(t)
	session := r.connect(t)
	since := r.becomesQuiet(t)
	server.Do(t, session, "SELECT 1")
	server.Do(t, session, "CREATE TABLE own (id int)")
	for range 20 { // checks of a balancer
		c, err := net.Dial("tcp", r.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if _, err := r.Decode("1"); err != nil { // an operator's
		t.Error(err)
	}
	if err := session.PgConn().CancelRequest(server.Within(t)); err != nil {
		t.Error(err)
	}
	if st := r.State(); st.QuietSince != since {
		t.Errorf("it was quiet since %v, and says %v", since, st.QuietSince)
	}
	draw(t, session)
	r.wokeUp(t, since)
}

func TestAQuietNodeTakesANewConfigurationAndEndsAsAnyOther(t *testing.T) {
	server.NoLeak(t)
	s := quietly(t, "reloaded")
	direct := s.LeaseDatabase
	way, through := network.Behind(t, direct)
	s.LeaseDatabase, s.Upstream = through, way.Address()
	r := start(t, s)
	r.direct = direct
	r.answers(t)
	since := r.becomesQuiet(t)
	way.Left(0)
	begun := way.Taken(0)
	s.Limits.MaxConnections, s.IDDatabase.Segments = 1, server.Name(t, r.direct)
	if err := r.reload(s); err != nil {
		t.Fatal(err)
	}
	if st := r.State(); st.QuietSince != since || st.Sessions.Limit != 1 || way.Taken(0) != begun {
		t.Errorf("after a reload with %d connections it reports %+v", way.Taken(0)-begun, st)
	}
	conn := r.connect(t)
	r.fromMemory(t, conn)
	conn.Close(server.Within(t))
	r.becomesQuiet(t)
	if err := r.end(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

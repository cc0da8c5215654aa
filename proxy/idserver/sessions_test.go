package idserver

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/draw"
	"pgflurry/proxy/internal/wire"
)

// drains drains a hall in the background. over is closed when that is done.
func (h *hall) drains(ctx context.Context) (over chan struct{}) {
	over = make(chan struct{})
	go func() { defer close(over); h.server.Drain(ctx) }()
	return over
}

// answers makes a session answer a statement, so that it is at rest afterwards.
func (v *client) answers(sql, status string) {
	v.t.Helper()
	v.send(wire.Encoded(&query{sql}))
	for {
		kind, body := v.next()
		if kind == 'E' {
			v.t.Fatalf("%s: %q", sql, body)
		}
		if kind == 'Z' {
			if string(body) != status {
				v.t.Fatalf("%s: status %q", sql, body)
			}
			return
		}
	}
}

// query is a Query.
type query struct{ sql string }

func (q *query) Encode(b []byte) ([]byte, error) {
	b, at := wire.Begin(b, 'Q')
	return wire.End(append(append(b, q.sql...), 0), at), nil
}

func TestADrainSendsClientsAwayEachAtItsTime(t *testing.T) {
	h := newHall(t)
	atRest, inside, knocking := h.knocks("ann"), h.knocks("ann"), h.knocks("ann")
	atRest.enters(password)
	inside.enters(password)
	inside.answers("BEGIN", "T")
	knocking.asked(wire.AuthSASL)
	over := h.drains(context.Background())
	atRest.refused("57P01", "terminating connection because the proxy is shutting down")
	knocking.refused("57P03", "the proxy is shutting down")
	h.knocks("ann").refused("57P03", "the proxy is shutting down")
	inside.answers("SELECT 1", "T")
	select {
	case <-over:
		t.Error("the drain is over, and a transaction is open")
	default:
	}
	inside.answers("COMMIT", "I")
	inside.refused("57P01", "terminating connection")
	<-over
	h.knocks("ann").refused("57P03", "the proxy is shutting down")
	if st := h.server.Stats(); st.Closed["drain"] != 2 || st.Sessions() != 0 {
		t.Errorf("stats: %+v", st)
	}
}

func TestADrainThatHasWaitedLongEnoughEndsAll(t *testing.T) {
	h := newHall(t)
	inside := h.knocks("ann")
	inside.enters(password)
	inside.answers("BEGIN", "T")
	ctx, cancel := context.WithCancel(context.Background())
	over := h.drains(ctx)
	inside.answers("SELECT 1", "T")
	cancel()
	inside.refused("57P01", "terminating connection")
	<-over
	if st := h.server.Stats(); st.Closed["drain"] != 1 {
		t.Errorf("stats: %+v", st)
	}
}

// soon gives no ID before its context ends, and says why that ended.
type soon struct{ asked, ended chan error }

func (soon) TryNextN(int) (int64, int, error) { return 0, 0, nil }

func (s soon) NextN(ctx context.Context, _ int) (int64, int, error) {
	s.asked <- nil
	<-ctx.Done()
	s.ended <- context.Cause(ctx)
	return 0, 0, ctx.Err()
}

func TestADrainEndsASessionThatWaitsForIDs(t *testing.T) {
	ids := soon{make(chan error, 1), make(chan error, 1)}
	h := newHall(t, func(s *Settings) { s.IDs = draw.New(ids, nil) })
	v := h.knocks("ann")
	v.enters(password)
	v.send(wire.Encoded(&query{"SELECT next_snowflake()"}))
	<-ids.asked
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	<-h.drains(ctx)
	if cause := <-ids.ended; cause != context.Canceled {
		t.Errorf("its wait ended with %v", cause)
	}
	v.refused("57P01", "terminating connection")
}

// A client that has asked for much and reads nothing blocks its session.
func TestADrainEndsAClientThatDoesNotRead(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann")
	v.enters(password)
	many := strings.Repeat("SHOW ALL;", 800)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 1000 {
			if _, err := v.conn.Write(wire.Encoded(&query{many})); err != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	<-h.drains(ctx)
	<-sent
}

func cancelRequest(key []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(key)))
	return append(binary.BigEndian.AppendUint32(b, wire.CancelRequest), key...)
}

func TestALongTextCanBeCancelledAndTheSessionStays(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann")
	key, _ := v.enters(password)
	for i := range 20 {
		v.answers(fmt.Sprintf("SET a.s%d TO '%s'", i, strings.Repeat("x", 7000)), "I")
	}
	v.send(wire.Encoded(&query{strings.Repeat("SHOW ALL;", 800)})) // 100 MB, far more than sockets take
	if kind, _ := v.next(); kind != 'T' {
		t.Fatalf("the answer begins with %q", kind)
	}
	if !h.server.Cancels(cancelRequest(key)) {
		t.Error("the request is not taken")
	}
	failed := ""
	for kind, body := v.next(); kind != 'Z'; kind, body = v.next() {
		v.heard = nil
		if kind == 'E' {
			failed = string(body)
		}
	}
	if !strings.Contains(failed, "57014") {
		t.Errorf("the text was not cancelled: %q", failed)
	}
	h.server.Cancels(cancelRequest(key)) // while it waits: no effect
	v.answers("SELECT 1", "I")
	v.leaves()
}

func TestAKeyIsOfOneSessionAndARequestWithItGoesNoFurther(t *testing.T) {
	h := newHall(t)
	request := cancelRequest
	keys := make(map[string]bool)
	for i, version := range []uint32{3 << 16, 3<<16 | 2, 3<<16 | 2, 3 << 16} {
		v := h.comes(nil)
		v.send(hello(version, "user", "ann", "database", "ids"))
		key, _ := v.enters(password)
		if keys[string(key)] || int32(binary.BigEndian.Uint32(key)) < lowestID {
			t.Errorf("session %d has the key %x", i, key)
		}
		keys[string(key)] = true
		if !h.server.Cancels(request(key)) {
			t.Errorf("session %d: a request with its key is not taken", i)
		}
		another := append([]byte{}, key...)
		another[len(another)-1] ^= 1
		for name, request := range map[string][]byte{
			"another secret":        request(another),
			"half a secret":         request(key[:len(key)-1]),
			"no secret":             request(key[:4]),
			"more than a secret":    request(append(another[:len(another):len(another)], 0)),
			"another length":        append(request(key), 0),
			"nothing":               nil,
			"another process":       request(append([]byte{0, 0, 0, 1}, key[4:]...)),
			"a process without key": request([]byte{0x40, 0, 0, 0, 0, 0, 0, 0}),
		} {
			if h.server.Cancels(request) {
				t.Errorf("session %d: a request with %s is taken", i, name)
			}
		}
		if i == 0 {
			v.answers("SELECT 1", "I") // the session still works
			v.leaves()
			h.empties()
			if h.server.Cancels(request(key)) {
				t.Error("a request with the key of a session that is over is taken")
			}
		}
	}
}

// reset resets the connection of a client, without an orderly end of TCP.
func reset(v *client) {
	v.conn.(*net.TCPConn).SetLinger(0)
	v.conn.Close()
}

func TestInvariant8WhatASessionHeldIsFreeHoweverItEnds(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.MaxSessions = 100 })
	for name, ends := range map[string]func(v *client){
		"before a word": func(v *client) {
			for all, _ := h.server.register.Open(); len(all) == 0; all, _ = h.server.register.Open() {
				runtime.Gosched() // its session has not begun
			}
			v.conn.Close()
		},
		"asked for a password":  func(v *client) { v.asked(wire.AuthSASL); v.conn.Close() },
		"within the exchange":   func(v *client) { v.begins(); v.conn.Close() },
		"with half a message":   func(v *client) { v.begins(); v.send([]byte{'p', 0, 0}); v.conn.Close() },
		"behind its proof":      func(v *client) { v.proves(password); v.conn.Close() },
		"with a wrong password": func(v *client) { v.proves("wrong"); v.fatal() },
		"politely":              func(v *client) { v.enters(password); v.leaves() },
		"rudely":                func(v *client) { v.enters(password); reset(v) },
		"in a transaction":      func(v *client) { v.enters(password); v.answers("BEGIN", "T"); v.conn.Close() },
		"with nonsense":         func(v *client) { v.enters(password); v.send([]byte("nonsense!")); v.rest() },
	} {
		ends(h.knocks("ann"))
		h.empties()
		t.Log(name)
		h.server.nothingIsLeft(t, nil)
	}
	st := h.server.Stats()
	var closed int64
	for _, n := range st.Closed {
		closed += n
	}
	if closed != st.Opened {
		t.Errorf("%d were opened, and closed are %v", st.Opened, st.Closed)
	}
}

func TestManyClientsAtOnceGetAsManyPlacesAsThereAre(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.MaxSessions = 10 })
	var all sync.WaitGroup
	in := make(chan *client, 100)
	out := make(chan string, 100)
	for range 50 {
		v := h.knocks("ann")
		all.Go(func() {
			v.proves(password)
			v.asked(wire.AuthSASLFinal)
			v.asked(wire.AuthDone)
			for {
				switch kind, body := v.next(); kind {
				case 'Z':
					in <- v
					return
				case 'E':
					out <- string(body)
					return
				}
			}
		})
	}
	all.Wait()
	if len(in) != 10 || len(out) != 40 {
		t.Errorf("%d are in and %d are not; expected 10 and 40", len(in), len(out))
	}
	close(in)
	for v := range in {
		v.leaves()
	}
}

func TestSessionsAreShown(t *testing.T) {
	h := newHall(t)
	long := "shop" + strings.Repeat("x", 59) // as much as pg_stat_activity shows
	one, two := h.knocks("bob", "application_name", long+strings.Repeat("y", 500)), h.knocks("ann")
	one.enters(password)
	one.answers("BEGIN", "T")
	h.clock.Store(1)
	two.enters(password)
	all := h.server.Sessions()
	if len(all) != 2 || all[0].User != "bob" || all[0].Application != long || all[0].State != "in_transaction" ||
		all[1].User != "ann" || all[1].State != "idle" {
		t.Errorf("sessions: %+v", all)
	}
	if st := h.server.Stats(); st.Open["in_transaction"] != 1 || st.Open["idle"] != 1 {
		t.Errorf("open: %v", st.Open)
	}
	two.send(wire.Encoded(&query{"SHOW SESSIONS"}))
	for _, text := range []string{"application_name", "bob", "in_transaction", two.conn.LocalAddr().String()} {
		for !strings.Contains(string(two.heard), text) {
			if kind, _ := two.next(); kind == 'Z' && !strings.Contains(string(two.heard), text) {
				t.Fatalf("SHOW SESSIONS does not show %q: %q", text, two.heard)
			}
		}
	}
	for _, text := range []string{long, one.conn.LocalAddr().String()} {
		if strings.Contains(string(two.heard), text) {
			t.Errorf("SHOW SESSIONS shows %q to another user: %q", text, two.heard)
		}
	}
	one.leaves()
	two.conn.Close()
}

func TestOfVeryManySessionsTheLatestAreShown(t *testing.T) {
	all := make([]Session, mostSessions+1)
	all[0].User, all[1].User = "first", "second"
	if shown := latest(all); len(shown) != mostSessions || shown[0].User != "second" {
		t.Errorf("%d are shown, first that of %q; expected %d from the second on",
			len(shown), shown[0].User, mostSessions)
	}
	if shown := latest(all[:1]); len(shown) != 1 {
		t.Errorf("of one %d are shown", len(shown))
	}
}

func TestTheTimeForWhichASessionMayBeIdleIsThatOfTheLastReload(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.IdleTimeout = giveUp })
	rules := h.server.settings.Rules
	v := h.knocks("ann")
	v.enters(password)
	rules.IdleTimeout = 0
	if err := h.server.Change(rules); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		v.answers("SELECT 1", "I")
	}
	never := h.knocks("ann")
	never.enters(password)
	rules.IdleTimeout = time.Millisecond
	if err := h.server.Change(rules); err != nil {
		t.Fatal(err)
	}
	for _, v := range []*client{v, never} {
		v.send(wire.Encoded(&query{"SELECT 1"})) // from here on the idle timeout runs
		v.refused("57P05", "terminating connection due to idle-session timeout")
	}
	h.empties()
	if st := h.server.Stats(); st.Closed["idle"] != 2 {
		t.Errorf("closed: %v", st.Closed)
	}
}

func TestSessionsOfARemovedAccountEndAndSoDoesALoginThatIsUnderWay(t *testing.T) {
	h := newHall(t)
	gone, stays, late := h.knocks("bob"), h.knocks("ann"), h.knocks("bob")
	gone.enters(password)
	gone.answers("BEGIN", "T")
	stays.enters(password)
	mechanisms := late.asked(wire.AuthSASL)
	var others []account.Account
	for _, a := range h.accounts.Load().All() {
		if a.Name != "bob" {
			others = append(others, a)
		}
	}
	h.accounts.Store(account.NewList(others, nil, h.server.now()))
	ended := h.server.EndSessionsOf(func(user string) bool { return user == "bob" })
	if ended != 1 {
		t.Errorf("%d sessions are ended; expected one", ended)
	}
	gone.refused("57P01", "its account was removed")
	h.has(2) // its slot is free, so the other one is not refused for want of a slot
	late.provesBy(mechanisms, password)
	late.refused("57P01", "its account was removed")
	stays.answers("SELECT 1", "I")
	if st := h.server.Stats(); st.Closed["removed"] != 1 {
		t.Errorf("closed: %v", st.Closed)
	}
}

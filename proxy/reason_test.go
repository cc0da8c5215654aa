package proxy

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/frame"
)

// faulty is a fault of the program.
type faulty struct{}

func (faulty) TryNextN(int) (int64, int, error)               { panic("a fault") }
func (faulty) NextN(context.Context, int) (int64, int, error) { panic("a fault") }

var (
	theirFarewell = message('E', z("SFATAL"), z("VFATAL"), z("C57P01"), []byte{0})
	theirRefusal  = message('E', z("SFATAL"), z("VFATAL"), z("C28P01"), []byte{0})
	cancelPacket  = []byte{0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2}
)

func TestOnlyASessionThatUpstreamEndsWhileItsClientIsThereIsReportedAsLost(t *testing.T) {
	fatal := func(code string) func(*rig) {
		return func(r *rig) {
			r.reply(message('E', z("SFATAL"), z("VFATAL"), z("C"+code), []byte{0}))
			r.upstream.Close()
		}
	}
	for name, c := range map[string]struct {
		lost  int32
		begun bool
		end   func(*rig)
	}{
		"a lost server":           {1, true, func(r *rig) { r.upstream.Close() }},
		"a reset of the server's": {1, true, func(r *rig) { endings["reset"](r.upstream) }},
		"a farewell":              {1, true, fatal("57P01")},
		"a crash":                 {1, true, fatal("57P02")},
		"an idle timeout":         {0, true, fatal("57P05")},
		"an idle transaction":     {0, true, fatal("25P03")},
		"Terminate":               {0, true, func(r *rig) { r.send(message('X')) }},
		"a close":                 {0, true, func(r *rig) { r.client.Close() }},
		"a reset":                 {0, true, func(r *rig) { endings["reset"](r.client) }},
		"a drain":                 {0, true, func(r *rig) { r.drains() }},
		"a refusal":               {0, false, fatal("28P01")},
		"a lost login":            {0, false, func(r *rig) { r.upstream.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			var lost atomic.Int32
			r := newRigBeforeStartup(t, &counter{}, func(s *Settings) { s.UpstreamLost = func() { lost.Add(1) } })
			if c.begun {
				r.upstream = r.starts(r.client)
			} else {
				r.upstream = r.asksForIn(r.client)
			}
			c.end(r)
			r.rest(r.upstream)
			r.upstream.Close()
			r.rest(r.client)
			r.client.Close()
			r.counted("the end", func(st Stats) bool { return st.Now == 0 && st.Opened == 1 })
			if n := lost.Load(); n != c.lost {
				t.Errorf("reported %d times, expected %d", n, c.lost)
			}
		})
	}
}

func TestASessionThatEndsIsCountedByTheReasonThatCameFirst(t *testing.T) {
	soon := func(s *Settings) { s.LoginTimeout = 50 * time.Millisecond }
	alone := func(s *Settings) { s.MaxSessions, s.MaxLogins = 2, 3 }
	for name, c := range map[string]struct {
		reason string
		change func(*Settings)
		begun  bool // at its first ReadyForQuery; else after the startup packet reached upstream
		end    func(*rig)
	}{
		"Terminate":      {"client", nil, true, func(r *rig) { r.send(message('X')) }},
		"a close":        {"client", nil, true, func(r *rig) { r.client.Close() }},
		"a reset":        {"client", nil, true, func(r *rig) { endings["reset"](r.client) }},
		"a lost login":   {"client", nil, false, func(r *rig) { r.client.Close() }},
		"a refusal":      {"refused", nil, false, func(r *rig) { r.reply(theirRefusal) }},
		"a farewell":     {"upstream", nil, true, func(r *rig) { r.reply(theirFarewell) }},
		"a lost server":  {"upstream", nil, true, func(r *rig) { r.upstream.Close() }},
		"a stray server": {"fault", nil, true, func(r *rig) { r.reply([]byte{'Z', 0, 0, 0, 0}) }},
		"a drain":        {"drain", nil, true, func(r *rig) { r.drains() }},
		"a late login":   {"timeout", soon, false, func(*rig) {}},
		"a bad length":   {"protocol", nil, true, func(r *rig) { r.send([]byte{'Q', 0, 0, 0, 0}) }},
		"giving way": {"limit", alone, false, func(r *rig) {
			r.asksForIn(r.dialFrom(1))
			r.asksForPassword(r.upstream, r.client)
			newcomer := r.dialFrom(2)
			r.write(newcomer, [][]byte{startup("user", "u", "database", "d")})
		}},
		"a fault": {"fault", func(s *Settings) { s.IDs = draw.New(faulty{}, nil) }, true, func(r *rig) {
			r.send(ourQuery)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*Settings) {}
			}
			r := newRigBeforeStartup(t, &counter{}, change)
			login := "ok"
			if c.begun {
				r.upstream = r.starts(r.client)
			} else {
				r.upstream, login = r.asksForIn(r.client), "failed"
			}
			if c.reason == "refused" {
				login = "refused"
			}
			c.end(r)
			if c.reason == "client" || c.reason == "limit" { // the proxy ends the connection to upstream
				r.rest(r.upstream)
			} else {
				if c.reason == "upstream" || c.reason == "refused" {
					r.upstream.Close()
				}
				r.client.SetReadDeadline(time.Now().Add(giveUp))
				_, _ = io.ReadAll(r.client)
			}
			r.client.Close()
			r.upstream.Close()
			st := r.counted("the end", func(st Stats) bool { return st.Closed[c.reason] > 0 })
			if !is(st.Closed, map[string]int64{c.reason: 1}) || st.Opened != int64(st.Now)+1 {
				t.Errorf("of %d sessions %d are open, and closed are %v; expected one: %s",
					st.Opened, st.Now, st.Closed, c.reason)
			}
			if st.Logins[login] != 1 {
				t.Errorf("the logins are %v; expected one to be %s", st.Logins, login)
			}
			if n := st.LoginsIn.Count(); int64(n) != st.Logins["ok"] {
				t.Errorf("%d logins lasted for some time; expected those that are ok of %v", n, st.Logins)
			}
		})
	}
}

func TestLoginsThatNeverBecomeSessionsAreCountedAndProbesAreNot(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		s.Upstream = []Host{{Network: "unix", Address: t.TempDir() + "/none"}}
	})
	r.client.Close() // a probe
	says := func(said []byte) {
		t.Helper()
		c := r.dial()
		defer c.Close()
		r.write(c, [][]byte{said})
		c.(*net.TCPConn).CloseWrite()
		r.rest(c)
	}
	says(startup("user", "u"))
	says(startup("user", "u")[:7])
	says([]byte{0, 0, 0, 8, 0, 2, 0, 0}) // protocol 2, for PostgreSQL to refuse
	says(cancelPacket)
	st := r.counted("three logins", func(st Stats) bool { return is(st.Open, nil) && st.Logins["failed"] == 3 })
	if !is(st.Logins, map[string]int64{"failed": 3}) || !is(st.Connects, map[string]int64{"failed": 1}) ||
		!is(st.Cancels, map[string]int64{"failed": 1}) || !is(st.Closed, nil) {
		t.Errorf("logins %v, connects %v, cancels %v, closed %v; expected 3, 1 and 1 failed, and none",
			st.Logins, st.Connects, st.Cancels, st.Closed)
	}
}

func TestCancelRequestsAreCountedByWhetherTheyWerePassedOn(t *testing.T) {
	r := newRig(t, &counter{})
	c := r.dial()
	defer c.Close()
	r.write(c, [][]byte{cancelPacket})
	up := <-r.arrivals
	r.expect(up, "upstream", [][]byte{cancelPacket})
	up.Close()
	r.rest(c)
	r.counted("one that passed", func(st Stats) bool { return is(st.Cancels, map[string]int64{"passed": 1}) })
	cancels := r.proxy.limits.Cancels
	cancels.Set(1, 0)
	cancels.Enter(admission.Origin(c.LocalAddr()), func() {}) // as if another client's were on its way
	late := r.dial()
	defer late.Close()
	r.write(late, [][]byte{cancelPacket})
	r.rest(late)
	st := r.counted("one too many", func(st Stats) bool {
		return is(st.Cancels, map[string]int64{"passed": 1, "dropped": 1})
	})
	if !is(st.Connects, map[string]int64{"ok": 1}) || st.ConnectsIn.Count() != 1 {
		t.Errorf("the connections for sessions are %v, timed %d; expected the one of the session",
			st.Connects, st.ConnectsIn.Count())
	}
}

func TestBytesOfSessionsAreCountedInBothDirections(t *testing.T) {
	r := newRig(t, &counter{})
	large := query("SELECT '" + string(bytes.Repeat([]byte{'x'}, 3*frame.BufferSize)) + "'")
	reply := join(message('D', bytes.Repeat([]byte{'y'}, 5*frame.BufferSize)), complete("SELECT 1"), ready('I'))
	r.relays(large, reply)
	r.requestAnswered("1", 'I')
	answer := join(parseDone, bindDone, dataRow("1"), complete("SELECT 1"), ready('I'))
	up := int64(len(startup("user", "u", "database", "d")) + len(large))
	down := int64(len(join(authOK, ready('I'))) + len(reply) + len(answer))
	all := func(st Stats) bool { return st.Relayed["to_upstream"] == up && st.Relayed["to_client"] == down }
	r.counted("while the session lives", all)
	r.reply(theirFarewell)
	r.upstream.Close()
	r.toClient(theirFarewell)
	down += int64(len(theirFarewell))
	r.counted("behind its end", func(st Stats) bool { return st.Now == 0 && all(st) })
}

package proxy

import (
	"sync/atomic"
	"time"

	"pgflurry/internal/report"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/statement"
)

// The counters behind Stats. Each session counts its own statements and writes, so that no processor waits for
// another's cache line. The proxy counts what happens once per connection, or when an answer fails.

// Stats has the counts since the proxy started, as operators see them. Each map has all its labels, including those at
// zero.
type Stats struct {
	report.Answers
	report.Sessions
	report.Upstreams // without what is known of each host
}

// result is the outcome of a login, of a connection to upstream, or of a cancel request.
type result uint8

const (
	loginOK result = iota
	loginRefused
	loginFailed
	connectOK
	connectFailed
	cancelPassed
	cancelFailed
	cancelDropped
	results
)

// counters are the proxy's own.
type counters struct {
	made         time.Time // the proxy's start
	results      [results]atomic.Int64
	declined     [declines]atomic.Int64
	slow         [statement.FormKinds]atomic.Int64 // answers that waited
	waits        *report.Histogram                 // how long those waited
	loginTimes   *report.Histogram
	connectTimes *report.Histogram
}

func newCounters() counters {
	const µs, ms = time.Microsecond, time.Millisecond
	return counters{
		made: time.Now(),
		waits: report.NewHistogram(50*µs, 100*µs, 250*µs, 500*µs, ms, 2500*µs, 5*ms, 10*ms, 25*ms, patience, 100*ms,
			segmentPatience, 500*ms),
		loginTimes: frontend.NewTimes(), connectTimes: frontend.NewTimes(),
	}
}

// answeredSlowly counts statements that waited together for this long.
func (c *counters) answeredSlowly(k statement.FormKind, statements int, waited time.Duration) {
	c.slow[k].Add(int64(statements))
	c.waits.ObserveMany(waited, statements)
}

// age is the time since the proxy's start.
func (c *counters) age() time.Duration { return time.Since(c.made) }

// loggedIn counts a login that succeeded. since is when the client's connection was accepted, from the proxy's start.
func (c *counters) loggedIn(since time.Duration) {
	c.count(loginOK)
	c.loginTimes.Observe(c.age() - since)
}

func (c *counters) count(r result) { c.results[r].Add(1) }

// fill sets the proxy's counters. atOnce are the answers that did not wait, by kind. Answers that waited are
// counted apart from them, so that no bucket ever falls.
func (c *counters) fill(st *Stats, atOnce [statement.FormKinds]int64) {
	st.Waits = c.waits.Snapshot()
	st.ByKind = make(map[string]int64, statement.FormKinds)
	for k, label := range statement.FormKindLabels {
		n := atOnce[k] + c.slow[k].Load()
		st.ByKind[label] = n
		for i := range st.Waits.Counts {
			st.Waits.Counts[i] += uint64(atOnce[k])
		}
	}
	of := func(r result) int64 { return c.results[r].Load() }
	st.Logins = map[string]int64{"ok": of(loginOK), "refused": of(loginRefused), "failed": of(loginFailed)}
	st.Connects = map[string]int64{"ok": of(connectOK), "failed": of(connectFailed)}
	st.Cancels = map[string]int64{
		"passed": of(cancelPassed), "failed": of(cancelFailed), "dropped": of(cancelDropped),
	}
	st.LoginsIn, st.ConnectsIn = c.loginTimes.Snapshot(), c.connectTimes.Snapshot()
	st.Declined = make(map[string]int64, declines)
	for d := range declines {
		st.Declined[d.String()] = c.declined[d].Load()
	}
}

package idserver

import (
	"sync/atomic"
	"time"

	"pgflurry/fault"
	"pgflurry/histogram"
	"pgflurry/proxy/statement"
)

// refusal is a group of statements that got an ERROR.
type refusal uint8

const (
	refusedWithoutIDs refusal = iota // 57P03: there is no grant, or no number of the tag
	refusedUnknown                   // 0A000: not an answered form
	refusedOther                     // everything else: the client's syntax, a failed transaction, a limit
	refusals
)

var refusalLabels = [refusals]string{"no_ids", "not_supported", "other"}

// counts are one session's counters, so that no processor waits for another's cache line. Only the session's goroutine
// adds to them.
type counts struct {
	answers      [statement.FormKinds]atomic.Int64 // statements that gave IDs or numbers
	ids, numbers atomic.Int64                      // in them
	refused      [refusals]atomic.Int64
}

// answered counts a statement that gives IDs or numbers. drew counts those.
func (c *counts) answered(f *statement.Form) { c.answers[f.Kind()].Add(1) }

func (c *counts) drew(f *statement.Form, n int) {
	if f.Tag != nil {
		c.numbers.Add(int64(n))
	} else {
		c.ids.Add(int64(n))
	}
}

// refuse counts a statement that got an ERROR.
func (c *counts) refuse(p fault.Error) {
	switch p.SQLState {
	case "57P03":
		c.refused[refusedWithoutIDs].Add(1)
	case "0A000":
		c.refused[refusedUnknown].Add(1)
	default:
		c.refused[refusedOther].Add(1)
	}
}

// result is the outcome of a login.
type result uint8

const (
	loginOK result = iota
	loginWrong
	loginAttempts
	loginLimit
	loginUnready
	loginRefused
	loginLeft
	results
)

var resultLabels = [results]string{"ok", "password", "attempts", "limit", "unready", "refused", "left"}

// reason is why a session ended. The first reason noticed counts.
type reason int32

const (
	stillOpen      reason = iota
	closedClient          // the client left, or its connection was lost
	closedDrain           // the server drains
	closedIdle            // it was idle for too long, or its client read nothing
	closedRemoved         // its account was removed
	closedProtocol        // the client broke the protocol
	closedFault           // a fault of the program
	reasons
)

var reasonLabels = [reasons]string{"", "client", "drain", "idle", "removed", "protocol", "fault"}

// sums are the counters of many sessions.
type sums struct {
	opened       int64
	answers      [statement.FormKinds]int64
	ids, numbers int64
	refused      [refusals]int64
	toClient     int64
	closed       [reasons]int64
}

// newLoginTimes has the same buckets as the proxy's histogram of logins.
func newLoginTimes() *histogram.Histogram {
	const ms = time.Millisecond
	return histogram.New(ms, 2500*time.Microsecond, 5*ms, 10*ms, 25*ms, 50*ms, 100*ms, 250*ms, 500*ms, time.Second,
		2500*ms, 5*time.Second, 10*time.Second, 30*time.Second, time.Minute)
}

package frontend

import (
	"sync/atomic"
	"time"

	"pgflurry/internal/report"
	"pgflurry/proxy/statement"
)

// Counts are one session's counters, so that no processor waits for another's cache line. Only the session's goroutine
// adds to them.
type Counts struct {
	Answers      [statement.FormKinds]atomic.Int64 // statements that gave IDs or numbers
	IDs, Numbers atomic.Int64                      // in them
}

// All is how many statements were answered.
func (c *Counts) All() (n int64) {
	for k := range c.Answers {
		n += c.Answers[k].Load()
	}
	return n
}

// Drew counts IDs, or numbers of tags.
func (c *Counts) Drew(k statement.FormKind, values int) {
	if k == statement.FormSegment {
		c.Numbers.Add(int64(values))
	} else {
		c.IDs.Add(int64(values))
	}
}

// Sums are the counters of many sessions.
type Sums struct {
	Opened               int64
	Answers              [statement.FormKinds]int64
	IDs, Numbers         int64
	Refused              [3]int64 // of the ID database
	ToUpstream, ToClient int64    // bytes
	ended                [Reasons]int64
}

// Add adds the counters of a session.
func (x *Sums) Add(c *Counts) {
	for k := range c.Answers {
		x.Answers[k] += c.Answers[k].Load()
	}
	x.IDs += c.IDs.Load()
	x.Numbers += c.Numbers.Load()
}

// Closed is how many sessions ended for each of these reasons.
func (x *Sums) Closed(reasons ...Reason) map[string]int64 {
	m := make(map[string]int64, len(reasons))
	for _, r := range reasons {
		m[r.String()] = x.ended[r]
	}
	return m
}

// NewTimes makes the histogram of what takes up to a minute: logins, connections to upstream.
func NewTimes() *report.Histogram {
	const ms = time.Millisecond
	return report.NewHistogram(ms, 2500*time.Microsecond, 5*ms, 10*ms, 25*ms, 50*ms, 100*ms, 250*ms, 500*ms,
		time.Second, 2500*ms, 5*time.Second, 10*time.Second, 30*time.Second, time.Minute)
}

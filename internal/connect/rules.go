package connect

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"pgflurry/internal/logs"
)

const (
	defaultAge   = 30 * time.Second
	defaultGrace = 10 * time.Minute
	// firstRetry is the pause after a login that failed; it doubles up to longestRetry.
	firstRetry   = time.Second
	longestRetry = 30 * time.Second
	// longestLogin limits a login while the old connection is open. So there is time left to use that one.
	longestLogin = 5 * time.Second
)

// Rules are what the connections of one process share. The zero value has an age, but no pace and no suspicion.
type Rules struct {
	// Age is the largest age at which a connection is used: 30 s if zero. The limit of each is up to a third less.
	Age time.Duration
	// Grace is how long an old connection is used on while logins fail without an answer: 10 minutes if zero.
	Grace time.Duration
	// Pace limits logins. Nil: none.
	Pace *Pace
	// Urgent lets a replacement log in without waiting for the pace. Others wait longer for it.
	Urgent bool
	// Suspicion makes connections old. Nil: none.
	Suspicion *Suspicion
	// Name is the connection's, for the log.
	Name string
	// To says where logins go, for errors: Target. NewAsker and acknowledge.NewWriter set it.
	To func() string
	// Log gets a warning while an old connection is used on. Nil: no log.
	Log *slog.Logger
	// Now is a monotonic clock, from any origin. Nil: the process's own.
	Now func() time.Duration
	// Jitter is in [0, 1). Nil: random.
	Jitter func() float64
	// Remind is the pause between two warnings of the same kind: logs.RemindEvery if zero.
	Remind time.Duration
}

// Named are the same rules for a connection of that name.
func (r Rules) Named(name string) Rules {
	r.Name = name
	return r
}

func (r Rules) withDefaults() Rules {
	if r.Age == 0 {
		r.Age = defaultAge
	}
	if r.Grace == 0 {
		r.Grace = defaultGrace
	}
	if r.Suspicion == nil {
		r.Suspicion = new(Suspicion)
	}
	if r.To == nil {
		r.To = func() string { return "the database" }
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	if r.Now == nil {
		start := time.Now()
		r.Now = func() time.Duration { return time.Since(start) }
	}
	if r.Jitter == nil {
		r.Jitter = rand.Float64
	}
	if r.Remind == 0 {
		r.Remind = logs.RemindEvery
	}
	return r
}

// limit is the age at which a connection is old. Limits differ, so that the connections of many processes are not
// replaced at the same moment.
func (r *Rules) limit() time.Duration {
	return r.Age - time.Duration(float64(r.Age/3)*(1-r.Jitter()))
}

// pause is how long to wait after so many failed logins in a row, shortened by up to half.
func (r *Rules) pause(failures int) time.Duration {
	pause := Doubled(firstRetry, longestRetry, failures)
	return pause - time.Duration(float64(pause/2)*r.Jitter())
}

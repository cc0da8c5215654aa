package connect

import (
	"context"
	"time"

	"pgflurry/internal/logs"
)

// Kept is one connection, of type C, that is never old. One goroutine uses it.
type Kept[C any] struct {
	login func(context.Context) (C, error)
	end   func(C)
	rules Rules

	conn   C
	isOpen bool
	seen   uint64        // suspicions before the last login began
	due    time.Duration // when to replace the connection, without a suspicion
	begin  time.Duration // when the next login may begin, if waits
	waits  bool          // it has reserved a login

	failures int           // failed logins in a row, while the connection is used on
	over     time.Duration // end of that, if there are failures
	failing  logs.Reminder
}

// Keep makes a Kept; nothing is opened yet. login opens a connection, and end closes one.
func Keep[C any](login func(context.Context) (C, error), end func(C), rules Rules) *Kept[C] {
	rules = rules.withDefaults()
	return &Kept[C]{login: login, end: end, rules: rules, failing: logs.Reminder{Every: rules.Remind}}
}

// Get returns the connection, and opens one if none is open. If it is old, Get opens another one first, and then closes
// the old one. The caller uses the connection until the next call of Get, Broken or Close, and has nothing under way on
// it by then.
func (k *Kept[C]) Get(ctx context.Context) (C, error) {
	now := k.rules.Now()
	if k.isOpen && k.failures > 0 && now >= k.over {
		k.rules.Log.Warn("the old connection is closed: PostgreSQL took no new one in time",
			"connection", k.rules.Name, "limit", k.rules.Grace)
		k.Close()
	}
	switch {
	case !k.isOpen:
		return k.open(ctx)
	case k.isDue(now):
		return k.replace(ctx)
	}
	return k.conn, nil
}

// isDue says whether to replace the connection now. If the pace allows no login yet, it reserves the next one.
func (k *Kept[C]) isDue(now time.Duration) bool {
	if now < k.due && k.seen == k.rules.Suspicion.raised() {
		return false
	}
	if !k.waits {
		k.waits, k.begin = true, k.rules.Pace.reserve(now)
	}
	return k.rules.Urgent || now >= k.begin
}

// open opens a connection where there is none.
func (k *Kept[C]) open(ctx context.Context) (C, error) {
	began, seen := k.rules.Now(), k.rules.Suspicion.raised()
	next, err := k.login(ctx)
	if err != nil {
		return next, err
	}
	k.adopt(next, began, seen)
	return next, nil
}

// replace opens a connection in place of an old one.
func (k *Kept[C]) replace(ctx context.Context) (C, error) {
	began, seen := k.rules.Now(), k.rules.Suspicion.raised()
	k.waits = false
	part, cancel := context.WithTimeout(ctx, partOf(ctx))
	defer cancel()
	next, err := k.login(part)
	switch {
	case err == nil:
		k.end(k.conn)
		k.adopt(next, began, seen)
		return next, nil
	case ctx.Err() != nil: // the caller has given up
		return next, err
	case refuses(err):
		k.Close()
		k.rules.Suspicion.Raise()
		return next, err
	}
	k.seen = seen
	k.useOn(err)
	return k.conn, nil
}

// partOf is half of the time that ctx has left. The other half is for the old connection.
func partOf(ctx context.Context) time.Duration {
	if deadline, limited := ctx.Deadline(); limited {
		return min(time.Until(deadline)/2, longestLogin)
	}
	return longestLogin
}

func (k *Kept[C]) adopt(next C, began time.Duration, seen uint64) {
	k.conn, k.isOpen, k.waits = next, true, false
	k.seen, k.due = seen, began+k.rules.limit()
	k.failures = 0
	if k.failing.Right("") {
		k.rules.Log.Info("the old connection is replaced", "connection", k.rules.Name)
	}
}

// useOn goes on with the old connection after a login that failed without an answer.
func (k *Kept[C]) useOn(why error) {
	now := k.rules.Now()
	if k.failures == 0 {
		k.over = now + k.rules.Grace
	}
	k.failures++
	k.due = now + k.rules.pause(k.failures)
	cause := Explain(why)
	if due, lasted := k.failing.Wrong(cause.Error(), now); due {
		k.rules.Log.Warn("PostgreSQL takes no new connection: the old one is used on", append([]any{
			"connection", k.rules.Name, "cause", cause, "at_most", (k.over - now).Round(time.Second),
		}, logs.Fields(lasted)...)...)
	}
}

// Broken closes the connection because its use failed. If the other side has ended it, all connections that share its
// suspicion count as old.
func (k *Kept[C]) Broken(cause error) {
	k.Close()
	if lost(cause) {
		k.rules.Suspicion.Raise()
	}
}

// Close closes the connection, if one is open. A later Get opens another.
func (k *Kept[C]) Close() {
	if !k.isOpen {
		return
	}
	var none C
	k.end(k.conn)
	k.conn, k.isOpen, k.waits, k.failures = none, false, false, 0
}

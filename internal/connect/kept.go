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
	Age
	begin time.Duration // when the next login may begin, if waits
	waits bool          // it has reserved a login
	under *login[C]     // under way; nil: none
	slow  int           // logins in a row that took too long

	failures int           // failed logins in a row, while the connection is used on
	over     time.Duration // end of that, if there are failures
	failing  logs.Reminder
	failed   bool // a login, and none has succeeded since
}

// Age is that of a connection.
type Age struct {
	seen uint64        // suspicions before its login began
	due  time.Duration // when to replace it, without a suspicion
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

// isDue says whether to replace the connection now. If the pace allows no login yet, it reserves the next one. While a
// login is under way, the connection is used on.
func (k *Kept[C]) isDue(now time.Duration) bool {
	if k.under != nil {
		return k.under.isOver()
	}
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
	l, err := k.await(ctx)
	if err != nil {
		var none C
		return none, err
	}
	k.adopt(l)
	return l.conn, nil
}

// replace opens a connection in place of an old one.
func (k *Kept[C]) replace(ctx context.Context) (C, error) {
	var none C
	k.waits = false
	part, cancel := context.WithTimeout(ctx, partOf(ctx))
	defer cancel()
	l, err := k.await(part)
	switch {
	case err == nil:
		k.end(k.conn)
		k.adopt(l)
		return l.conn, nil
	case ctx.Err() != nil: // the caller has given up
		return none, err
	case refuses(err):
		k.Close()
		k.rules.Suspicion.Raise()
		return none, err
	}
	k.seen = l.seen
	k.useOn(err)
	return k.conn, nil
}

// await waits for the login that is under way. If there is none, or it has failed, it begins one. If ctx ends first,
// the login goes on, and a later call waits for it. So a login that takes long is not in vain.
func (k *Kept[C]) await(ctx context.Context) (*login[C], error) {
	if k.under != nil {
		if l, err := k.awaitEnd(ctx); err == nil || ctx.Err() != nil {
			return l, err
		}
	}
	limit := Doubled(longestLogin, slowestLogin, k.slow+1)
	k.under = beginLogin(context.WithoutCancel(ctx), k.login, limit, k.rules.Now(), k.rules.Suspicion.raised())
	return k.awaitEnd(ctx)
}

// awaitEnd waits for the end of the login that is under way.
func (k *Kept[C]) awaitEnd(ctx context.Context) (*login[C], error) {
	l := k.under
	select {
	case <-l.over:
	case <-ctx.Done():
		if !l.isOver() {
			k.failed = k.failed || isLate(ctx.Err())
			return l, &lateError{k.rules.To(), ctx.Err()}
		}
	}
	k.under = nil
	if isLate(l.err) {
		k.slow++
	} else {
		k.slow = 0
	}
	k.failed = k.failed || l.err != nil
	return l, l.err
}

// partOf is half of the time that ctx has left. The other half is for the old connection.
func partOf(ctx context.Context) time.Duration {
	if deadline, limited := ctx.Deadline(); limited {
		return min(time.Until(deadline)/2, longestLogin)
	}
	return longestLogin
}

// adopt takes over the connection of a login. If others before it failed, the server may be another one now, and it
// takes logins again. Who waits before it tries again need not wait any longer.
func (k *Kept[C]) adopt(l *login[C]) {
	k.conn, k.isOpen, k.waits = l.conn, true, false
	k.Age = Age{l.seen, l.began + k.rules.limit()}
	k.failures = 0
	if k.failed {
		k.failed = false
		k.rules.Suspicion.Raise()
		k.seen++ // this connection is of after it
	}
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
	k.closeConn()
	if lost(cause) {
		k.rules.Suspicion.Raise()
	}
}

// Lend gives the connection away, with its age: it is not closed, and the next Get opens another.
func (k *Kept[C]) Lend() Age {
	var none C
	k.conn, k.isOpen = none, false
	return k.Age
}

// Return takes a connection back that was lent. It closes the one that was opened meanwhile.
func (k *Kept[C]) Return(conn C, age Age) {
	k.closeConn()
	k.conn, k.isOpen, k.Age = conn, true, age
}

// Close closes the connection, if one is open, and ends a login that is under way. A later Get opens another.
func (k *Kept[C]) Close() {
	if l := k.under; l != nil {
		k.under = nil
		if l.stop(); l.err == nil {
			k.end(l.conn)
		}
	}
	k.closeConn()
}

func (k *Kept[C]) closeConn() {
	if !k.isOpen {
		return
	}
	var none C
	k.end(k.conn)
	k.conn, k.isOpen, k.waits, k.failures = none, false, false, 0
}

package main

import "time"

// A telling is what the log says about one thing: what is new, and now and then again what stays wrong. One goroutine uses it.
type telling struct {
	clock  func() time.Time
	remind time.Duration // between two lines of the same trouble
	kind   string        // of what was told last
	since  time.Time     // when the trouble began; zero: all is well
	last   time.Time     // when something was told last
}

// due says whether to log something of a kind now. since is an attribute for a reminder, and empty before.
func (t *telling) due(kind string, wrong bool) (now bool, since []any) {
	at := t.clock()
	switch {
	case !wrong:
		t.since = time.Time{}
	case t.since.IsZero():
		t.since = at
	}
	if kind == t.kind {
		if !wrong || at.Sub(t.last) < t.remind {
			return false, nil
		}
		since = []any{"since", t.since}
	}
	t.kind, t.last = kind, at
	return true, since
}

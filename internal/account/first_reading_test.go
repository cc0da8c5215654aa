package account

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhoComesBeforeTheAccountsWereReadWaitsForThat(t *testing.T) {
	list := NewList(nil, nil, time.Time{})
	for name, c := range map[string]struct {
		read     func(*Reader) // called a second later
		expected *List
		after    time.Duration
	}{
		"they are read":             {func(a *Reader) { a.use(list); close(a.tried) }, list, time.Second},
		"they cannot be read":       {func(a *Reader) { close(a.tried) }, nil, time.Second},
		"the database is not heard": {func(*Reader) {}, nil, firstReading},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &Reader{tried: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
				start := time.Now()
				go func() {
					time.Sleep(time.Second)
					c.read(a)
				}()
				if got := a.Last(); got != c.expected || time.Since(start) != c.after {
					t.Errorf("got %v after %v; expected %v after %v", got, time.Since(start), c.expected, c.after)
				}
			})
		})
	}
}

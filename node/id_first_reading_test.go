package node

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/account"
)

func TestWhoComesBeforeTheAccountsWereReadWaitsForThat(t *testing.T) {
	list := account.NewList(nil, nil, time.Time{})
	for name, c := range map[string]struct {
		read     func(*accounts) // called a second later
		expected *account.List
		after    time.Duration
	}{
		"they are read":             {func(a *accounts) { a.take(list); close(a.tried) }, list, time.Second},
		"they cannot be read":       {func(a *accounts) { close(a.tried) }, nil, time.Second},
		"the database is not heard": {func(*accounts) {}, nil, firstReading},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &accounts{tried: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
				start := time.Now()
				go func() {
					time.Sleep(time.Second)
					c.read(a)
				}()
				if got := a.last(); got != c.expected || time.Since(start) != c.after {
					t.Errorf("got %v after %v; expected %v after %v", got, time.Since(start), c.expected, c.after)
				}
			})
		})
	}
}

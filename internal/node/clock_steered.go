//go:build steerclock

package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
)

// A program built with the tag steerclock is for tests: a file says how far its machine's clocks are off. Its name is
// in the environment:
//
//	PGFLURRY_TEST_STEER_CLOCK=/path/of/file
//	wall=10m            the wall clock is 10 minutes ahead; negative: behind
//	monotonic=5s        the monotonic clock has jumped ahead by 5 s, which it never does backwards
//	rate=0.5            it runs at half speed from now on; 0: it stands still
//
// The words stand in one line, in any order. The defaults are 0, 0 and 1. The clock reads the file again and again, and
// logs each change once it holds. Timers are not steered.
const steerVariable = "PGFLURRY_TEST_STEER_CLOCK"

const steerLook = 10 * time.Millisecond

// steering is the content of the file.
type steering struct {
	wall, monotonic time.Duration
	rate            float64
}

// steeredClock is the machine's clock with a steering applied.
type steeredClock struct {
	own clock

	mu    sync.Mutex
	by    steering
	at    time.Duration // own monotonic time at which the present steering began
	shown time.Duration // reading that was shown then
}

func newClock(log *slog.Logger) (clock, error) {
	c := &steeredClock{own: ownClock(), by: steering{rate: 1}}
	file := os.Getenv(steerVariable)
	log.Warn("this program is built for tests: its clock can be steered", "file", file)
	dated := func(h slog.Handler) slog.Handler { return datedHandler{h, c} }
	follow := func(context.Context) {}
	if file != "" {
		if _, err := c.read(file); err != nil {
			return clock{}, err
		}
		follow = func(ctx context.Context) { c.follow(ctx, file, slog.New(dated(log.Handler()))) }
	}
	ids := func(unit time.Duration) *lease.Clock { return lease.NewClockFrom(unit, c.monotonic) }
	return clock{wall: c.wall, monotonic: c.monotonic, ids: ids, follow: follow}, nil
}

// follow applies the content of the file until ctx ends.
func (c *steeredClock) follow(ctx context.Context, file string, log *slog.Logger) {
	for ctx.Err() == nil {
		by, err := c.read(file)
		switch {
		case err != nil:
			log.Error("the clock is steered as before", "cause", err)
		case c.steer(by):
			log.Warn("the clock is steered", "wall", by.wall, "monotonic", by.monotonic, "rate", by.rate)
		}
		connect.Sleep(ctx, steerLook, nil)
	}
}

func (c *steeredClock) read(file string) (steering, error) {
	by := steering{rate: 1}
	text, err := os.ReadFile(file)
	if err != nil {
		return by, fmt.Errorf("%s: %w", steerVariable, err)
	}
	for _, word := range strings.Fields(string(text)) {
		var err error
		switch name, value, _ := strings.Cut(word, "="); name {
		case "wall":
			by.wall, err = time.ParseDuration(value)
		case "monotonic":
			by.monotonic, err = time.ParseDuration(value)
		case "rate":
			_, err = fmt.Sscan(value, &by.rate)
		default:
			err = fmt.Errorf("%q is none of wall, monotonic, rate", name)
		}
		if err != nil {
			return by, fmt.Errorf("%s: %w", file, err)
		}
	}
	return by, nil
}

// steer applies a steering, and reports whether it changes anything.
func (c *steeredClock) steer(by steering) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by == c.by {
		return false
	}
	now := c.own.monotonic()
	c.shown = c.show(now) + max(0, by.monotonic-c.by.monotonic)
	c.at, c.by = now, by
	return true
}

func (c *steeredClock) show(now time.Duration) time.Duration {
	return c.shown + time.Duration(float64(now-c.at)*c.by.rate)
}

func (c *steeredClock) monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.show(c.own.monotonic())
}

func (c *steeredClock) wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own.wall().Add(c.by.wall)
}

// datedHandler writes the steered wall clock's time into log lines.
type datedHandler struct {
	slog.Handler
	clock *steeredClock
}

func (h datedHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Time = h.clock.wall()
	return h.Handler.Handle(ctx, r)
}

func (h datedHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return datedHandler{h.Handler.WithAttrs(a), h.clock}
}

func (h datedHandler) WithGroup(name string) slog.Handler {
	return datedHandler{h.Handler.WithGroup(name), h.clock}
}

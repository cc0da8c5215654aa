package driver

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/bench/trial"
)

func TestAnAddressThatCannotBeReadIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{"redis://me:secret@%zz", "redis://me:secret@host:port", "http://me:secret@host"} {
		if _, err := openRedis(address); err == nil || strings.Contains(err.Error(), "secret") ||
			!strings.Contains(err.Error(), "expected redis://") {
			t.Errorf("%s: error %v", address, err)
		}
	}
	if _, err := MariaDBVersion(t.Context(), "me:secret@nowhere"); err == nil ||
		strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "expected user:") {
		t.Errorf("a data source name without address: error %v", err)
	}
}

// notes records what clients do, in order.
type notes struct {
	mu  sync.Mutex
	did []string
}

func (n *notes) add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.did = append(n.did, what)
}

// noted is a client whose trip takes a microsecond.
type noted struct{ *notes }

func (c noted) trip(context.Context) (int, error) {
	c.add("trip")
	for began := time.Now(); time.Since(began) < time.Microsecond; {
	}
	return 1, nil
}

func (c noted) close(context.Context) { c.add("close") }

func (c noted) dial(context.Context) (client, error) {
	c.add("dial")
	return c, nil
}

func TestEachClientConnectsAndDrawsOnceBeforeTheMeasuredTimeAndLeavesAfterIt(t *testing.T) {
	for _, clients := range []int{1, 3} {
		c := noted{new(notes)}
		var before, after int
		count, err := drawFrom(clients, c.dial)(t.Context(),
			5*time.Millisecond, func(work func() (trial.Count, error)) (trial.Count, error) {
				before = len(c.did)
				count, err := work()
				after = len(c.did)
				return count, err
			})
		want := slices.Concat(slices.Repeat([]string{"dial", "trip"}, clients),
			slices.Repeat([]string{"trip"}, int(count.Operations)), slices.Repeat([]string{"close"}, clients))
		if err != nil || before != 2*clients || after != len(want)-clients || !slices.Equal(c.did, want) {
			t.Errorf("%d clients were measured from %d to %d of %v (error %v)", clients, before, after, c.did, err)
		}
	}
}

func TestTheMeanIsOfAllRoundTripsAndNotOfWhatThePercentilesShow(t *testing.T) {
	count, err := drawFrom(1, noted{new(notes)}.dial)(t.Context(), 5*time.Millisecond, trial.Unwatched)
	if err != nil {
		t.Fatal(err)
	}
	if mean := count.Latency[trial.Mean]; mean <= 0 || mean > count.Elapsed/time.Duration(count.Operations) {
		t.Errorf("the mean is %v; expected about %v: one client was busy for %v with %d",
			mean, count.Elapsed/time.Duration(count.Operations), count.Elapsed, count.Operations)
	}
}

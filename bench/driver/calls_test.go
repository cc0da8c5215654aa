package driver

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
}

// noted records what clients do, in order.
type noted struct {
	mu   sync.Mutex
	did  []string
	call func(n int) error // by the number of the call
}

func (n *noted) add(what string) (times int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.did = append(n.did, what)
	return len(n.did)
}

func (n *noted) dial(context.Context, string) (Call, func(), error) {
	n.add("dial")
	return func(context.Context) (int, error) {
		times := n.add("call")
		if n.call != nil {
			return 1, n.call(times)
		}
		return 1, nil
	}, func() { n.add("end") }, nil
}

func TestEachClientConnectsAndCallsOnceBeforeTheMeasuredTimeAndLeavesAfterIt(t *testing.T) {
	n, before, after := new(noted), 0, 0
	count, err := Calls{Dial: n.dial, Clients: 3}.Against("")(t.Context(), time.Millisecond,
		func(work func() (trial.Count, error)) (trial.Count, error) {
			before = len(n.did)
			count, err := work()
			after = len(n.did)
			return count, err
		})
	if err != nil || before != 2*3 || int64(after-before) != count.Operations || len(n.did) != after+3 {
		t.Errorf("%+v, error %v: %d before, %d after, %d in all", count, err, before, after, len(n.did))
	}
	if len(count.Latency) != 1 || count.Latency["mean"] <= 0 {
		t.Errorf("a closed loop has %v; expected its mean alone", count.Latency)
	}
}

// One client, and one call that stands still: it is in the wait of all calls that were to begin meanwhile.
func TestAnOpenLoopCountsTheWaitFromTheIntendedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const d = 200 * time.Millisecond
		n := &noted{call: func(times int) error {
			if times == 4 { // dial, the first call, one call before
				time.Sleep(d)
			}
			return nil
		}}
		closed := 2000.0
		turn := Calls{Dial: n.dial, Clients: 1, Pace: Pace{Share: 0.5, Closed: &closed}, sleep: time.Sleep}.Against("")
		count, err := turn(t.Context(), d, trial.Unwatched)
		if most := count.Latency["max"].Round(time.Millisecond); err != nil || most != d ||
			count.Latency["p50"] < d/4 || count.Latency["p50"] > d*3/4 || count.Operations < 100 {
			t.Errorf("%+v, error %v; expected some 200 calls that waited 0 to 200 ms", count, err)
		}
	})
}

func TestAnOpenLoopWithoutAClosedOneIsAnError(t *testing.T) {
	none := 0.0
	for _, p := range []Pace{{Share: 0.5}, {Share: 0.5, Closed: &none}} {
		if _, err := (Calls{Pace: p}).Against("")(t.Context(), time.Second, trial.Unwatched); err == nil {
			t.Errorf("%+v has a rate", p)
		}
	}
	kept := 0.0
	p := Pace{Closed: &kept}
	p.keep(trial.Count{Operations: 50, Elapsed: time.Second / 2})
	if perSecond, err := (Pace{Share: 0.25, Closed: &kept}).perSecond(); err != nil || perSecond != 25 {
		t.Errorf("a quarter of 100 a second is %v (error %v)", perSecond, err)
	}
}

func TestTheFirstCallThatFailsEndsTheOthers(t *testing.T) {
	why := errors.New("no more")
	n := &noted{call: func(times int) error {
		if times > 20 {
			return why
		}
		return nil
	}}
	_, err := Calls{Dial: n.dial, Clients: 4}.Against("")(t.Context(), time.Hour, trial.Unwatched)
	if !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

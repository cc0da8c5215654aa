package proxy

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/draw"

	"pgflurry/internal/report"
)

func TestABatchWhoseIDsWouldNotComeInTimeIsForwardedAndDrawsNothing(t *testing.T) {
	ids := &counter{}
	r := newRigBeforeStartup(t, ids, func(s *Settings) {
		s.IDs = draw.New(ids, func(d time.Duration) int { return int(d / patience * 1000) })
	})
	r.upstream = r.starts(r.client)
	r.relays(query("SELECT * FROM next_snowflakes(1001)"), join(theirFailure, ready('I')))
	half := join(parse("", "SELECT * FROM next_snowflakes(501)"), bindIt, executeAll)
	r.relays(join(half, half, syncIt), join(theirFailure, ready('I')))
	if st := r.proxy.Stats(); ids.last.Load() != 0 || !is(st.Declined, map[string]int64{"tick_full": 3}) {
		t.Errorf("%d IDs were drawn, and declined are %v; expected none, and 3 statements",
			ids.last.Load(), st.Declined)
	}
	half = join(parse("", "SELECT * FROM next_snowflakes(500)"), bindIt, executeAll)
	r.send(half, half, syncIt)
	r.counted("an answered batch", func(st Stats) bool { return report.Total(st.ByKind) == 2 && st.IDs == 1000 })
}

// torn fails once, in the middle of a batch: its second run of a portion does not come.
type torn struct {
	counter
	runs atomic.Int64
}

func (x *torn) TryNextN(n int) (int64, int, error) {
	if x.runs.Add(1) == 2 {
		return 0, 0, errors.New("the grant has ended")
	}
	return x.counter.TryNextN(n)
}

func TestWhatWasDrawnForABatchThatIsForwardedIsGivenToNobody(t *testing.T) {
	r := newRig(t, &torn{})
	r.relays(query("SELECT * FROM next_snowflakes(300)"), join(theirFailure, ready('I')))
	r.requestAnswered("257", 'I')
}

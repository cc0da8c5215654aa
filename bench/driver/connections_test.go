package driver

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgflurry/bench/trial"
)

// scriptedSource makes clients that record what they do.
type scriptedSource struct {
	noted
	err error
}

func (s scriptedSource) dialer(string) func(context.Context) (client, error) {
	return func(ctx context.Context) (client, error) {
		if s.err != nil {
			return nil, s.err
		}
		return s.dial(ctx)
	}
}

func TestAClientThatConnectsAgainAndAgainLeavesEachTime(t *testing.T) {
	s := scriptedSource{noted: noted{new(notes)}}
	count, err := Connect(s, "", 1)(t.Context(), 100*time.Millisecond, trial.Unwatched)
	if err != nil || count.Operations == 0 {
		t.Fatalf("%+v, error %v", count, err)
	}
	want := slices.Repeat([]string{"dial", "close"}, int(count.Operations)+1) // one warms up
	if !slices.Equal(s.did, want) {
		t.Errorf("%d connections, and the client did %v", count.Operations, s.did)
	}
}

func TestConnectionsThatStayHaveDrawnWhenTheServersAreWeighedAndLeaveAfterwards(t *testing.T) {
	s := scriptedSource{noted: noted{new(notes)}}
	weigh := func() (int64, error) {
		if slices.Contains(s.did, "close") || len(s.did) != 2*20 {
			t.Errorf("the servers are weighed after %v", s.did)
		}
		return 1000, nil
	}
	count, err := Stay(s, "", 20, weigh)(t.Context(), 0, trial.Unwatched)
	if err != nil || count.Operations != 20 || count.Memory == nil || *count.Memory != 1000 {
		t.Errorf("%+v, error %v", count, err)
	}
	if len(s.did) != 3*20 {
		t.Errorf("after the turn they did %v", s.did)
	}
}

func TestTheFirstConnectionThatFailsEndsTheOthers(t *testing.T) {
	why := errors.New("no more")
	_, err := Stay(scriptedSource{err: why}, "", 1000, nil)(t.Context(), 0, trial.Unwatched)
	if !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

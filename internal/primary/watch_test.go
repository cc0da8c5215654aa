package primary

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// speaker is a server that says what the test wants.
type speaker struct {
	answer chan Answer // each question takes one
	asked  atomic.Int32
}

// rig runs a Watch over servers that answer when the test says so. Use it in a bubble.
type rig struct {
	*Watch
	speakers []*speaker
	closed   atomic.Int32
}

func newRig(t *testing.T, n int) *rig {
	r := &rig{}
	began := time.Now()
	all := servers(n)
	for i := range all {
		s := &speaker{answer: make(chan Answer)}
		r.speakers = append(r.speakers, s)
		all[i].Ask = func(ctx context.Context) (Answer, error) {
			s.asked.Add(1)
			select {
			case a := <-s.answer:
				return a, nil
			case <-ctx.Done():
				return Answer{}, ctx.Err()
			case <-time.After(10 * time.Second):
				return Answer{}, errors.New("no answer in time")
			}
		}
		all[i].Close = func() { r.closed.Add(1) }
	}
	r.Watch = New(Settings{
		Servers: all, Now: func() time.Duration { return time.Since(began) }, Wall: time.Now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if closed := r.closed.Load(); closed != int32(n) {
			t.Errorf("%d of %d connections were closed", closed, n)
		}
	})
	return r
}

func TestInvariant6AHostThatHangsDelaysNoOtherAndTheFirstPrimaryByASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3)
		began := time.Now()
		r.speakers[1].answer <- primaryOn(1) // the others hang
		found, err := r.Primary(t.Context())
		if took := time.Since(began); err != nil || found.Host != 1 || took > patience {
			t.Fatalf("%+v, %v after %v", found, err, took)
		}
		r.speakers[1].answer <- primaryOn(1)
		r.speakers[1].answer <- primaryOn(1)
		if took := time.Since(began); took > 4*usualPause || r.speakers[0].asked.Load() != 1 {
			t.Errorf("three answers took %v, and one that hangs was asked %d times", took, r.speakers[0].asked.Load())
		}
	})
}

func TestInvariant7EachPrimaryIsOverBeforeTheNextOneBeginsForWhoeverHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		r.speakers[0].answer <- primaryOn(1)
		r.speakers[1].answer <- aStandby
		first, err := r.Primary(t.Context())
		if err != nil || first.Host != 0 || first.Over.Err() != nil {
			t.Fatalf("%+v, %v", first, err)
		}
		changed := r.Changed()
		r.speakers[1].answer <- primaryOn(2)
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatal("a later timeline has changed nothing")
		}
		second, err := r.Primary(t.Context())
		if err != nil || second.Host != 1 || first.Over.Err() == nil || second.Over.Err() != nil {
			t.Fatalf("%+v, %v behind %+v", second, err, first)
		}
		if s := r.State(); s.Found != 2 || !s.Hosts[1].Primary || s.Hosts[0].Primary || s.Since.IsZero() {
			t.Errorf("it tells %+v", s)
		}
	})
}

func TestWithoutAPrimaryItIsAskedSoonerAndWhatEachSaidIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		began := time.Now()
		r.speakers[0].answer <- aStandby
		_, err := r.Primary(t.Context())
		if err == nil || err.Error() != "no upstream host is the primary: db1: standby" {
			t.Fatalf("%v", err)
		}
		r.speakers[0].answer <- primaryOn(2)
		if took := time.Since(began); took > usualPause/2 {
			t.Errorf("the next question came after %v", took)
		}
	})
}

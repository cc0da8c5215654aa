package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestKeeperAcquiresAtOnceAndTheIssuerMayBegin(t *testing.T) {
	s := &script{}
	keep(t, s, func(k *Keeper) {
		select {
		case <-k.Granted():
		default:
			t.Error("Granted is not closed")
		}
		s.expect(t, "acquire", "grant 7 [1000000, 1005000)")
		if tick := k.clock.Now(); tick != 1000000 {
			t.Errorf("the clock shows %d", tick)
		}
	})
}

func TestKeeperRenewsAtAThirdOfAWindowThatDoublesUpToTheConfiguredOne(t *testing.T) {
	s := &script{}
	keep(t, s, func(*Keeper) {
		time.Sleep(40 * time.Second)
		synctest.Wait()
		var renewals []string
		for i, what := range s.story() {
			if strings.HasPrefix(what, "renew") {
				renewals = append(renewals, fmt.Sprintf("%v %s", s.at[i].Round(100*time.Millisecond), what))
			}
		}
		want := []string{"1.7s renew 10s", "5s renew 20s", "11.7s renew 40s", "25s renew 1m0s"}
		if !slices.Equal(renewals, want) {
			t.Errorf("renewals %q, expected %q", renewals, want)
		}
	})
}

func TestInvariant1TheBoundStaysWhenTheOutcomeOfARenewalIsUnknown(t *testing.T) {
	s := &script{}
	broken := errors.New("outcome unknown: connection reset")
	failures := 0
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if failures++; failures <= 2 {
			return Renewed{}, broken
		}
		return s.raise(r), nil
	}
	keep(t, s, func(k *Keeper) {
		time.Sleep(1700 * time.Millisecond)
		synctest.Wait()
		s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s")
		if !s.ready(k) {
			t.Errorf("not ready in %+v", s.granted)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		// tried again soon, from the same acknowledged mark
		if story := s.story(); len(story) != 6 || !strings.HasPrefix(story[5], "grant 7 [1000000, 101") {
			t.Errorf("it happened: %q", story)
		}
	})
}

func TestInvariant1ARenewalAsksWithTheLastAcknowledgedMarkAndIsGrantedWhatTheRowSays(t *testing.T) {
	s := &script{}
	var acknowledged []int64
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		acknowledged = append(acknowledged, r.Acknowledged)
		if len(acknowledged) == 1 {
			return Renewed{}, errors.New("applied, but the answer was lost")
		}
		return Renewed{Until: r.Acknowledged + 123, DatabaseMicros: s.micros()}, nil
	}
	keep(t, s, func(*Keeper) {
		time.Sleep(2200 * time.Millisecond)
		synctest.Wait()
		s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s", "renew 10s", "grant 7 [1000000, 1005123)")
		if !slices.Equal(acknowledged, []int64{1005000, 1005000}) {
			t.Errorf("acknowledged marks %d", acknowledged)
		}
	})
}

func TestALostLeaseIsFollowedAtOnceByAnotherWorkerWithAFreshOwner(t *testing.T) {
	s := &script{}
	worker := 6
	var owners []string
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		owners = append(owners, r.Owner)
		worker++
		return s.take(r, worker), nil
	}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		return Renewed{}, &Lost{Worker: r.Worker, Taken: true, Mark: r.Acknowledged, Acknowledged: r.Acknowledged}
	}
	keep(t, s, func(*Keeper) {
		time.Sleep(1700 * time.Millisecond)
		synctest.Wait()
		story := s.story()
		if len(story) != 5 || story[3] != "acquire" || !strings.HasPrefix(story[4], "grant 8 ") || s.at[4] != s.at[2] {
			t.Errorf("it happened: %q at %v", story, s.at)
		}
		if len(owners) != 2 || owners[0] == owners[1] || len(owners[0]) != 36 {
			t.Errorf("owners %q", owners)
		}
	})
}

func TestKeeperWaitsForTheGateAndForAFreeWorkerWithoutSpinning(t *testing.T) {
	for _, refusal := range []*Refusal{
		{Reason: GateClosed, Until: 1, Wait: time.Minute},
		{Reason: NoWorker, Workers: 3, Until: 1, Wait: time.Hour},
		{Reason: NoWorker, Workers: 3},
		{Reason: NoWorker, Workers: 3, Retired: 3},
	} {
		t.Run(refusal.Error(), func(t *testing.T) {
			s := &script{}
			s.acquire = func(context.Context, Request) (Acquired, error) { return Acquired{}, refusal }
			keep(t, s, func(k *Keeper) {
				time.Sleep(2 * time.Minute)
				if n := len(s.story()); n < 8 || n > 20 {
					t.Errorf("%d attempts in two minutes", n)
				}
				if s.ready(k) {
					t.Error("ready without a grant")
				}
			})
		})
	}
}

func TestKeeperComesBackWhenTheNextWorkerIsFree(t *testing.T) {
	s := &script{}
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		if left := 8*time.Second - time.Since(s.start); left > 0 {
			return Acquired{}, &Refusal{Reason: NoWorker, Workers: 3, Until: 1, Wait: left}
		}
		return s.take(r, 1), nil
	}
	keep(t, s, func(*Keeper) {
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s.expect(t, "acquire", "acquire", "grant 1 [1009000, 1014000)") // the spread is half of a quarter of the wait
	})
}

// Many processes wait. The database says to each when the next worker is free, and one of them gets it.
func TestAKeeperThatFindsOthersFasterAgainAndAgainAsksEverMoreRarely(t *testing.T) {
	s := &script{}
	s.acquire = func(context.Context, Request) (Acquired, error) {
		return Acquired{}, &Refusal{Reason: NoWorker, Workers: 3, Until: 1, Wait: 20 * time.Millisecond}
	}
	got := s.during(t, 50*time.Second, func(*Keeper) {}, "acquire")
	var pauses []time.Duration
	for i := range got[1:] {
		pauses = append(pauses, (got[i+1] - got[i]).Round(10*time.Millisecond))
	}
	want := []time.Duration{
		520 * time.Millisecond, 2020 * time.Millisecond, 7520 * time.Millisecond, 7520 * time.Millisecond,
	}
	if len(pauses) < 4 || !slices.Equal(pauses[:4], want) {
		t.Errorf("pauses of %v, expected %v", pauses, want)
	}
}

// Processes that wait for long ask now and then whether a worker was released. They do not ask at the same time either.
func TestAKeeperThatWaitsForLongAsksAtTimesOfItsOwn(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 15 * time.Second, 0.5: 11250 * time.Millisecond} {
		s := &script{}
		s.acquire = func(context.Context, Request) (Acquired, error) {
			return Acquired{}, &Refusal{Reason: GateClosed, Until: 1, Wait: 2 * time.Minute}
		}
		got := s.during(t, 20*time.Second,
			func(k *Keeper) { k.protocol.jitter = func() float64 { return jitter } }, "acquire")
		if len(got) < 2 || got[1]-got[0] != want {
			t.Errorf("jitter %v: attempts at %v, expected the second after %v", jitter, got, want)
		}
	}
}

func TestAnAttemptThatHangsIsGivenUpWhileTheGrantLastsAndTriedAgain(t *testing.T) {
	s := &script{}
	s.renew = func(ctx context.Context, _ Renewal) (Renewed, error) { <-ctx.Done(); return Renewed{}, ctx.Err() }
	keep(t, s, func(k *Keeper) {
		time.Sleep(4900 * time.Millisecond)
		synctest.Wait()
		if n := len(s.story()) - 2; n < 2 {
			t.Errorf("%d attempts to renew before the grant ended, expected at least 2", n)
		}
		if !s.ready(k) {
			t.Error("not ready while the grant lasts")
		}
		time.Sleep(time.Second)
		if s.ready(k) {
			t.Errorf("ready after the end of %+v", s.granted)
		}
	})
}

func TestAKeeperWhoseClockIsAheadOfItsGrantDoesNotSpin(t *testing.T) {
	s := &script{}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		return Renewed{Until: r.Acknowledged, DatabaseMicros: s.micros() - time.Hour.Microseconds()}, nil
	}
	keep(t, s, func(k *Keeper) {
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := len(s.story()) / 2; n < 10 || n > 25 {
			t.Errorf("%d renewals in five minutes", n)
		}
		if s.ready(k) {
			t.Error("ready with a clock that is past the grant")
		}
	})
}

func TestAWorkerWhoseRowIsLockedIsLeftForAnotherOnlyWhenTheGrantHasEnded(t *testing.T) {
	s := &script{}
	var acquisitions atomic.Int32
	var renewedLate atomic.Bool
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		switch acquisitions.Add(1) {
		case 1:
			return s.take(r, 7), nil
		case 2:
			return Acquired{}, &Refusal{Reason: NoWorker, Workers: 2, Until: 1, Wait: time.Hour}
		default:
			return s.take(r, 8), nil
		}
	}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if acquisitions.Load() == 2 {
			renewedLate.Store(true)
		}
		if r.Worker == 8 {
			return s.raise(r), nil
		}
		return Renewed{}, fmt.Errorf("%w: lock timeout", ErrBlocked)
	}
	keep(t, s, func(k *Keeper) {
		time.Sleep(4900 * time.Millisecond)
		synctest.Wait()
		if n := acquisitions.Load(); n != 1 {
			t.Errorf("%d acquisitions while the grant lasts", n)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if !s.ready(k) || s.granted.Worker != 8 {
			t.Errorf("grant %+v", s.granted)
		}
		if !renewedLate.Load() {
			t.Error("the old worker was not tried again between two acquisitions")
		}
	})
}

// A possible result of a failover that loses acknowledged renewals: the process gets its own worker again, with an
// earlier end than its grant has.
func TestAWorkerThatComesBackWithAnEarlierEndLeavesTheGrantInHandUntilARenewalPassesIt(t *testing.T) {
	s := &script{}
	acquisitions := 0
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		a := s.take(r, 7)
		if acquisitions++; acquisitions == 1 {
			a.Grant.Until += 20_000
		}
		return a, nil
	}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if acquisitions == 1 {
			return Renewed{}, &Lost{Worker: 7, Mark: 1_000_500, Acknowledged: r.Acknowledged}
		}
		return s.raise(r), nil
	}
	synctest.Test(t, func(t *testing.T) {
		k := keeperOf(t, s)
		var log bytes.Buffer
		k.log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
		defer cancel()
		if err := k.Run(ctx); err != nil {
			t.Fatalf("Run ended: %v", err)
		}
		want := []string{
			"acquire", "grant 7 [1000000, 1025000)", "renew 10s", // lost
			"acquire", "renew 10s", "renew 20s", "grant 7 [1008333, 1033333)", // not 1013333 and 1020000
		}
		if story := s.story(); len(story) < len(want) || !slices.Equal(story[:len(want)], want) {
			t.Errorf("it happened: %q, expected %q", story, want)
		}
		if n := strings.Count(log.String(), "the database has lost a commit it had acknowledged"); n != 2 {
			t.Errorf("logged %d times, expected with the renewal and with the acquisition:\n%s", n, log.String())
		}
	})
}

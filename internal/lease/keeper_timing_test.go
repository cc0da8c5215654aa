package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// during runs a keeper over the script for so long. It returns when each event happened whose name has the prefix.
func (s *script) during(t *testing.T, d time.Duration, set func(*Keeper), prefix string) (times []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := keeperOf(t, s)
		if set != nil {
			set(k)
		}
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for i, what := range s.story() {
		if strings.HasPrefix(what, prefix) {
			times = append(times, s.at[i].Round(time.Millisecond))
		}
	}
	return times
}

func TestARenewalComesATenthEarlierOrLaterThanAThirdOfTheWindow(t *testing.T) {
	for jitter, want := range map[float64][]time.Duration{
		0:      {1500 * time.Millisecond, 4500 * time.Millisecond},
		0.5:    {1667 * time.Millisecond, 5 * time.Second},
		0.9999: {1833 * time.Millisecond, 5500 * time.Millisecond},
	} {
		got := (&script{}).during(t, 6*time.Second,
			func(k *Keeper) { k.protocol.jitter = func() float64 { return jitter } }, "renew")
		if len(got) != 2 || (got[0]-want[0]).Abs() > time.Millisecond || (got[1]-want[1]).Abs() > 2*time.Millisecond {
			t.Errorf("jitter %v: renewals at %v, expected %v", jitter, got, want)
		}
	}
}

func TestASuspicionRenewsAHeldLeaseAtOnceAndManyRenewItOnceASecond(t *testing.T) {
	s := &script{}
	keep(t, s, func(k *Keeper) {
		time.Sleep(1200 * time.Millisecond)
		k.suspicion.Raise()
		synctest.Wait()
		s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s", "grant 7 [1000000, 1011200)")
		for range 2500 {
			k.suspicion.Raise()
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if renewals := (len(s.story()) - 4) / 2; renewals != 2 {
			t.Errorf("%d renewals in 2.5 s of suspicions, expected 2: %q at %v", renewals, s.story(), s.at)
		}
	})
}

func TestASuspicionDuringARenewalRenewsOnceMore(t *testing.T) {
	s := &script{}
	var k *Keeper
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if len(s.story()) == 3 {
			k.suspicion.Raise() // this renewal may go over the old connection
		}
		return s.raise(r), nil
	}
	got := s.during(t, 4*time.Second, func(of *Keeper) { k = of }, "renew")
	if want := []time.Duration{1667 * time.Millisecond, 2667 * time.Millisecond}; !slices.Equal(got, want) {
		t.Errorf("renewals at %v, expected %v", got, want)
	}
}

func TestASuspicionHurriesAnAttemptAfterAnUnknownOutcomeOnceASecondAndNoneAfterARefusal(t *testing.T) {
	s := &script{}
	s.renew = func(context.Context, Renewal) (Renewed, error) { return Renewed{}, errors.New("connection reset") }
	suspecting := func(k *Keeper) {
		go func() {
			for range 10_000 {
				k.suspicion.Raise()
				time.Sleep(time.Millisecond)
			}
		}()
	}
	got := s.during(t, 11*time.Second, suspecting, "renew")
	for i := 4; i < len(got); i++ { // without it the pauses grow up to 5 s
		if pause := got[i] - got[i-1]; pause != shortestPause {
			t.Errorf("attempts to renew at %v, expected one a second", got)
		}
	}
	if len(got) < 10 {
		t.Errorf("attempts to renew at %v, expected one a second", got)
	}
	s = &script{}
	s.acquire = func(context.Context, Request) (Acquired, error) {
		return Acquired{}, &Refusal{Reason: GateClosed, Until: 1, Wait: 8 * time.Second}
	}
	if got := s.during(t, 11*time.Second, suspecting, "acquire"); len(got) != 2 {
		t.Errorf("acquisitions at %v, expected 2", got)
	}
}

func TestALongWindowIsReachedInThreeMinutesAndRenewedEveryTwentySecondsForever(t *testing.T) {
	s := &script{}
	var asked []time.Duration
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		asked = append(asked, time.Duration(r.Window)*time.Millisecond)
		return s.raise(r), nil
	}
	got := s.during(t, 2*time.Hour, func(k *Keeper) { k.protocol.window = time.Hour.Milliseconds() }, "renew")
	full := slices.Index(asked, time.Hour)
	if full < 0 || got[full] > 3*time.Minute {
		t.Fatalf("windows of %v at %v, expected an hour within three minutes", asked[:min(12, len(asked))], got[:12])
	}
	for i := full + 1; i < len(got); i++ {
		if pause := got[i] - got[i-1]; pause != longestPause {
			t.Fatalf("renewal %d comes %v after the one before, expected %v", i, pause, longestPause)
		}
	}
}

func TestASlowAnswerDoesNotPutTheNextRenewalOff(t *testing.T) {
	s := &script{}
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		a := s.take(r, 7)
		time.Sleep(time.Second) // the answer is on its way back
		return a, nil
	}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		answer := s.raise(r)
		time.Sleep(time.Second)
		return answer, nil
	}
	got := s.during(t, 6*time.Second, nil, "renew")
	if want := []time.Duration{1667 * time.Millisecond, 4667 * time.Millisecond}; !slices.Equal(got, want) {
		// A third of 5 s, then a third of the 9 s that are left of 10 s when the answer arrives. Each pause runs from
		// the start of the attempt before.
		t.Errorf("renewals at %v, expected %v", got, want)
	}
}

// All IDs would be as late as the answer until the next renewal.
func TestASlowFirstAnswerGivesNoIDsBeforeTheDatabaseWasAskedOnceMore(t *testing.T) {
	s := &script{}
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		a := s.take(r, 7)
		time.Sleep(3 * time.Second)
		return a, nil
	}
	var of *Keeper
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if got := of.issued.Load().Grant; got != (Grant{}) {
			t.Errorf("the issuer has %v", got)
		}
		s.renew = nil
		return s.raise(r), nil
	}
	got := s.during(t, 4*time.Second, func(k *Keeper) { of = k }, "renew")
	if want := []time.Duration{3 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("renewals at %v, expected %v", got, want)
	}
	if behind := s.tick() - of.clock.Now(); behind > 1 {
		t.Errorf("the clock is %d ticks behind", behind)
	}
	if got := of.issued.Load().Until; got == 0 {
		t.Error("the issuer has no grant after the renewal")
	}
}

func TestAnAnswerThatIsLateIsAnAnswerAndCountsFromTheAsking(t *testing.T) {
	s := &script{}
	var late *Renewal
	s.renew = func(ctx context.Context, r Renewal) (Renewed, error) {
		if late != nil {
			answer := s.raise(*late)
			answer.Late, late, s.renew = late, nil, nil
			return answer, nil
		}
		late = &r
		<-ctx.Done()
		return Renewed{}, ctx.Err()
	}
	var of *Keeper
	s.during(t, 4*time.Second, func(k *Keeper) { of = k }, "renew")
	if want := epochAge.Milliseconds() + 1666 + 10_000; of.issued.Load().Until < want {
		t.Errorf("granted until %d, expected what was asked for at first: at least %d", of.issued.Load().Until, want)
	}
}

func TestTheLimitOfAnAcquisitionGrowsWithEachFailureUpToHalfAMinute(t *testing.T) {
	s := &script{}
	var limits []time.Duration
	s.acquire = func(ctx context.Context, _ Request) (Acquired, error) {
		deadline, _ := ctx.Deadline()
		limits = append(limits, time.Until(deadline).Round(time.Millisecond))
		return Acquired{}, errors.New("connection reset")
	}
	s.during(t, time.Minute, nil, "acquire")
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, 30 * time.Second}
	if len(limits) < len(want) || !slices.Equal(limits[:len(want)], want) {
		t.Errorf("limits %v, expected %v", limits, want)
	}
}

func TestAnAttemptHasAQuarterOfWhatIsReservedAndAtMostFiveSeconds(t *testing.T) {
	s := &script{}
	var limits []time.Duration
	limit := func(ctx context.Context) {
		deadline, ok := ctx.Deadline()
		if !ok {
			t.Error("an attempt without a deadline")
		}
		limits = append(limits, time.Until(deadline).Round(time.Millisecond))
	}
	s.acquire = func(ctx context.Context, r Request) (Acquired, error) { limit(ctx); return s.take(r, 7), nil }
	s.renew = func(ctx context.Context, r Renewal) (Renewed, error) { limit(ctx); return s.raise(r), nil }
	s.during(t, 40*time.Second, nil, "renew")
	want := []time.Duration{
		5 * time.Second, 1250 * time.Millisecond, 2500 * time.Millisecond, 5 * time.Second, 5 * time.Second,
	}
	if !slices.Equal(limits, want) {
		t.Errorf("deadlines %v, expected %v", limits, want)
	}
}

func TestARenewalWhoseOutcomeIsUnknownIsTriedAgainSoonAndEverMoreSlowly(t *testing.T) {
	s := &script{}
	s.renew = func(context.Context, Renewal) (Renewed, error) { return Renewed{}, errors.New("connection reset") }
	got := s.during(t, 40*time.Second, nil, "renew")
	var pauses []time.Duration
	for i := 1; i < len(got); i++ {
		pauses = append(pauses, (got[i] - got[i-1]).Round(time.Millisecond))
	}
	// three quarters of 250 ms, doubled each time, up to 5 s
	want := []time.Duration{188, 375, 750, 1500, 3000, 3750, 3750}
	for i := range want {
		want[i] *= time.Millisecond
	}
	if len(pauses) < len(want) || !slices.Equal(pauses[1:len(want)], want[1:]) ||
		(pauses[0]-want[0]).Abs() > time.Millisecond {
		t.Errorf("pauses %v, expected %v …", pauses, want)
	}
}

func TestAFailureThatLastsIsLoggedAgainEachMinuteAndSaysForHowLong(t *testing.T) {
	s := &script{}
	began := false
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		if began {
			return Acquired{}, errors.New("password authentication failed")
		}
		began = true
		return s.take(r, 7), nil
	}
	s.renew = func(context.Context, Renewal) (Renewed, error) {
		return Renewed{}, errors.New("password authentication failed")
	}
	var log bytes.Buffer
	s.during(t, 10*time.Minute, func(k *Keeper) { k.log = slog.New(slog.NewTextHandler(&log, nil)) }, "")
	logged, first := log.String(), 0
	warnings, remind := strings.Count(logged, "level=WARN"), strings.Count(logged, "trouble_lasted=")
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "does not acknowledge") && !strings.Contains(line, "trouble_lasted=") {
			first++
		}
	}
	if first != 1 || remind < 8 || remind > 9 || warnings != first+remind ||
		!strings.Contains(log.String(), "trouble_lasted=9m") {
		t.Errorf("%d first lines and %d reminders among %d warnings in ten minutes:\n%s",
			first, remind, warnings, log.String())
	}
}

func TestAFailureIsLoggedOnceUntilItEndsOrBecomesAnotherOne(t *testing.T) {
	s := &script{}
	attempts := 0
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		switch attempts++; {
		case attempts <= 12: // past the end of the grant
			return Renewed{}, fmt.Errorf("connection reset, the %dth time", attempts)
		case attempts == 20:
			return Renewed{}, &Lost{Worker: r.Worker, Retired: true}
		}
		return s.raise(r), nil
	}
	var log bytes.Buffer
	s.during(t, 10*time.Minute, func(k *Keeper) { k.log = slog.New(slog.NewTextHandler(&log, nil)) }, "")
	for words, times := range map[string]int{
		"the database does not acknowledge": 1, "no IDs are left": 1, "renewing again": 1, "the worker is lost": 1,
		"worker acquired": 2, "worker released": 1,
	} {
		if n := strings.Count(log.String(), `msg="`+words); n != times {
			t.Errorf("%q is logged %d times, expected %d", words, n, times)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
}

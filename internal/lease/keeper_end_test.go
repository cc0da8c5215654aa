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

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestInvariant8TheIssuerIsSealedBeforeItsWorkerIsReleased(t *testing.T) {
	s := &script{}
	keep(t, s, func(*Keeper) {})
	s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "seal", "release 7", "close")
}

func TestInvariant8TheIssuerIsSealedWithoutALeaseToo(t *testing.T) {
	s := &script{}
	s.acquire = func(context.Context, Request) (Acquired, error) { return Acquired{}, errors.New("no route") }
	keep(t, s, func(*Keeper) {})
	s.expect(t, "acquire", "seal", "close")
}

// The row may have forgotten a renewal. A released worker has no quarantine, so the row must learn the mark again.
func TestAReleaseSendsTheLastMarkThatWasAcknowledgedOnTheSecondAttemptToo(t *testing.T) {
	s := &script{}
	renewals := 0
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if renewals++; renewals > 1 {
			return Renewed{}, errors.New("no answer")
		}
		return s.raise(r), nil
	}
	s.release = func(context.Context, Lease) error { return errors.New("this connection was dead") }
	keep(t, s, func(*Keeper) {
		time.Sleep(6 * time.Second)
		synctest.Wait()
	})
	first := epochAge.Milliseconds() + defaultFirstWindow.Milliseconds()
	if last := s.granted.Until; renewals < 2 || last <= first || !slices.Equal(s.marks, []int64{last, last}) {
		t.Errorf("after %d renewals the releases send %d, expected twice the end of the last grant, %d, above %d",
			renewals, s.marks, last, first)
	}
}

func TestShutdownCutsAHangingAttemptShortAndReleasesWithADeadlineOfItsOwn(t *testing.T) {
	s := &script{}
	s.renew = func(ctx context.Context, _ Renewal) (Renewed, error) { <-ctx.Done(); return Renewed{}, ctx.Err() }
	releases := 0
	s.release = func(ctx context.Context, _ Lease) error {
		if releases++; releases == 1 {
			return errors.New("this connection was dead")
		}
		if ctx.Err() != nil {
			t.Error("the release was cancelled by the shutdown")
		}
		<-ctx.Done()
		return ctx.Err()
	}
	keep(t, s, func(*Keeper) {
		time.Sleep(1700 * time.Millisecond)
		synctest.Wait()
	})
	s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s", "seal", "release 7", "release 7", "close")
}

func TestAnAcquisitionUnderWayAtTheEndIsHeardAndItsWorkerIsReleasedWithoutAGrant(t *testing.T) {
	s := &script{}
	s.acquire = func(ctx context.Context, r Request) (Acquired, error) {
		select {
		case <-ctx.Done():
			return Acquired{}, ctx.Err()
		case <-time.After(lastAcquisition - time.Millisecond):
			return s.take(r, 7), nil
		}
	}
	keep(t, s, func(*Keeper) {})
	s.expect(t, "acquire", "seal", "release 7", "close")
}

func TestAnAcquisitionThatIsNotAnsweredDelaysTheEndBriefly(t *testing.T) {
	s := &script{}
	s.acquire = func(ctx context.Context, _ Request) (Acquired, error) { <-ctx.Done(); return Acquired{}, ctx.Err() }
	var ended time.Duration
	for underWay, lasts := range map[time.Duration]time.Duration{
		0: lastAcquisition, time.Second: lastAcquisition, longestAttempt - time.Second: time.Second,
	} {
		s.log, s.at = nil, nil
		keep(t, s, func(*Keeper) {
			time.Sleep(underWay)
			synctest.Wait()
			ended = time.Since(s.start)
		})
		s.expect(t, "acquire", "seal", "close")
		if delay := s.at[1] - ended; delay != lasts {
			t.Errorf("%v after the acquisition began, the end took %v; expected %v", underWay, delay, lasts)
		}
	}
}

func TestRunEndsWithAnErrorOnlyWhereNoLaterAttemptCouldBeRight(t *testing.T) {
	for _, want := range []error{ErrNamespaceMismatch, ErrElsewhere} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{}
			s.acquire = func(context.Context, Request) (Acquired, error) {
				return Acquired{}, fmt.Errorf("%w: other", want)
			}
			k := keeperOf(t, s)
			if err := k.Run(t.Context()); !errors.Is(err, want) {
				t.Errorf("Run: %v, expected %v", err, want)
			}
			s.expect(t, "acquire", "seal", "close")
		})
	}
}

// An alias of a pooler may move, and move back: sessions must not end for that.
func TestAnAddressThatLeadsToAnotherDatabaseForAWhileEndsNothing(t *testing.T) {
	for _, other := range []error{ErrNamespaceMismatch, ErrElsewhere} {
		back, s := new(atomic.Bool), &script{}
		s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
			if !back.Load() {
				return Renewed{}, fmt.Errorf("%w: other", other)
			}
			return Renewed{Until: r.Wanted, DatabaseMicros: s.micros()}, nil
		}
		keep(t, s, func(k *Keeper) {
			time.Sleep(time.Minute) // of the bubble's clock
			if s.ready(k) {
				t.Error("IDs go on after the mark")
			}
			back.Store(true)
			time.Sleep(10 * time.Second)
			if !s.ready(k) {
				t.Error("the lease was not renewed when the address led back")
			}
		})
	}
}

// A pooler that leads to two databases by turns would use up a worker in one of them at each turn.
func TestALeaseThatIsLostToAnotherPlaceIsReplacedOnceInTheRestOfAWorker(t *testing.T) {
	const rest = 2 * time.Minute
	s := &script{}
	acquisitions := new(atomic.Int64)
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		a := s.take(r, int(acquisitions.Add(1)))
		a.Place, a.Rest = "here", rest
		return a, nil
	}
	s.renew = func(context.Context, Renewal) (Renewed, error) { return Renewed{}, &Lost{Taken: true, Place: "there"} }
	keep(t, s, func(*Keeper) {
		time.Sleep(10 * rest)
		if n := acquisitions.Load(); n < 9 || n > 12 {
			t.Errorf("%d workers in ten rests", n)
		}
	})
}

// refuser is an issuer whose layout has no such worker.
type refuser struct{ *script }

func (refuser) Grant(int, int64, int64) error { return errors.New("worker 7 does not fit 2 bits") }

func TestAGrantTheIssuerDoesNotTakeEndsRunAndTheWorkerIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		k := keeperOf(t, s)
		k.issuer = refuser{s}
		if err := k.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "worker 7 does not fit 2 bits") {
			t.Errorf("Run: %v", err)
		}
		s.expect(t, "acquire", "seal", "release 7", "close")
	})
}

func TestInvariant8APanicSealsTheIssuerTooAndReleasesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		s.renew = func(context.Context, Renewal) (Renewed, error) { panic("a defect") }
		k := keeperOf(t, s)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = k.Run(t.Context())
		}()
		s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s", "seal", "close")
	})
}

func TestAServerThatDoesNotTellItsTimelineIsNamedInTheLogOnce(t *testing.T) {
	s := &script{}
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		a := s.take(r, 7)
		a.Ungated = true
		return a, nil
	}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		return Renewed{}, &Lost{Worker: r.Worker, Retired: true}
	}
	synctest.Test(t, func(t *testing.T) {
		k := keeperOf(t, s)
		var log bytes.Buffer
		k.log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
		const words = "the server does not tell its WAL timeline"
		if n := strings.Count(log.String(), words); n != 1 || strings.Count(log.String(), "worker acquired") < 2 {
			t.Errorf("%d times:\n%s", n, log.String())
		}
	})
}

func TestALeaseFoundInACopyIsGivenUpWithTheWordsOfTheCopy(t *testing.T) {
	s := &script{}
	s.renew = func(context.Context, Renewal) (Renewed, error) { return Renewed{}, &Refusal{Reason: Copy} }
	acquisitions := 0
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		if acquisitions++; acquisitions > 1 {
			return Acquired{}, &Refusal{Reason: Copy}
		}
		return s.take(r, 7), nil
	}
	keep(t, s, func(k *Keeper) {
		time.Sleep(1700 * time.Millisecond)
		synctest.Wait()
		if k.protocol.held != nil {
			t.Error("the lease is still in hand")
		}
	})
	s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s", "acquire", "seal", "close")
}

func TestAClosedDatabaseTakesTheGrantBackAtOnceAndTheLeaseGoesOnWhenItIsOpened(t *testing.T) {
	s := &script{}
	renewals := 0
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		if renewals++; renewals < 3 {
			return Renewed{}, &Refusal{Reason: Closed}
		}
		return s.raise(r), nil
	}
	keep(t, s, func(k *Keeper) {
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !s.ready(k) {
			t.Error("no grant after the database is open again")
		}
		if st := k.Stats(); !st.Lease.Held || st.Lease.Reserve == 0 {
			t.Errorf("the state is %+v", st)
		}
	})
	story := s.story()
	if want := []string{
		"acquire", "grant 7 [1000000, 1005000)", "renew 10s", "revoke", "close", "renew 10s", "revoke", "close",
		"renew 10s",
	}; len(story) < 10 || !slices.Equal(story[:9], want) || !strings.HasPrefix(story[9], "grant 7 [1000000, ") {
		t.Errorf("it happened: %q", story)
	}
}

func TestAFailedLoginIsLoggedInOneSentenceWithItsHint(t *testing.T) {
	s := &script{}
	nobody, err := pgconn.ParseConfig("host=127.0.0.1 port=1 user=me dbname=db sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	_, refused := pgconn.ConnectConfig(t.Context(), nobody)
	s.acquire = func(context.Context, Request) (Acquired, error) { return Acquired{}, refused }
	synctest.Test(t, func(t *testing.T) {
		k := keeperOf(t, s)
		var log bytes.Buffer
		k.log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
		explained := connect.Explain(refused)
		if !strings.Contains(log.String(), fmt.Sprintf("cause=%q hint=%q", explained, fault.HintOf(explained))) {
			t.Errorf("the log says %s", log.String())
		}
	})
}

func TestIDsFarAheadOfTheDatabasesClockAreLoggedEveryMinuteWithWhatToDo(t *testing.T) {
	s := &script{}
	renewals := 0
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		answer := s.raise(r)
		if renewals++; renewals == 2 { // the clock stands nine years ahead for one answer
			answer.DatabaseMicros += (9 * 365 * 24 * time.Hour).Microseconds()
		}
		return answer, nil
	}
	synctest.Test(t, func(t *testing.T) {
		k := keeperOf(t, s)
		var log bytes.Buffer
		k.log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "IDs are far ahead of the database's clock"); n < 4 || n > 5 ||
			!strings.Contains(log.String(), "pgflurry workers retire 7") {
			t.Errorf("logged %d times in five minutes:\n%s", n, log.String())
		}
	})
}

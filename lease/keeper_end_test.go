package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

func TestRunEndsWithAnErrorOnlyWhereNoLaterAttemptCouldBeRight(t *testing.T) {
	for _, want := range []error{ErrNamespaceMismatch, ErrElsewhere} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{}
			s.renew = func(context.Context, Renewal) (Renewed, error) { return Renewed{}, fmt.Errorf("%w: other", want) }
			k := keeperOf(t, s)
			if err := k.Run(t.Context()); !errors.Is(err, want) {
				t.Errorf("Run: %v, expected %v", err, want)
			}
			s.expect(t, "acquire", "grant 7 [1000000, 1005000)", "renew 10s", "seal", "close")
		})
	}
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

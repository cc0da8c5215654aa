package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestStatsHaveAGrantThatOutlivesItsLease(t *testing.T) {
	s := &script{}
	first := true
	s.renew = func(context.Context, Renewal) (Renewed, error) {
		return Renewed{}, &Lost{Worker: 7, Retired: true}
	}
	s.acquire = func(_ context.Context, r Request) (Acquired, error) {
		if first {
			first = false
			return s.take(r, 7), nil
		}
		return Acquired{}, &Refusal{Reason: GateClosed, Wait: 2 * time.Minute}
	}
	keep(t, s, func(k *Keeper) {
		if st := k.Stats(); !st.Lease.Held || st.Lease.Reserve != 5*time.Second || st.Cause != nil || st.Term != 1 {
			t.Errorf("after the acquisition: %+v", st)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		st := k.Stats()
		if st.Lease.Held || !st.Lease.Granted || st.Lease.Worker != 7 || st.Lease.Reserve != 3*time.Second {
			t.Errorf("after the loss: %+v", st)
		}
		if refusal := new(Refusal); !errors.As(st.Cause, &refusal) || st.Opens < 2*time.Minute {
			t.Errorf("the cause is %v, and the gate opens at %v", st.Cause, st.Opens)
		}
		if st.Lease.Renewals["lost"] != 1 || st.Lease.Acquisitions["ok"] != 1 || st.Lease.Acquisitions["refused"] != 1 {
			t.Errorf("renewals %v, acquisitions %v", st.Lease.Renewals, st.Lease.Acquisitions)
		}
		time.Sleep(4 * time.Second)
		if st := k.Stats(); st.Lease.Reserve != 0 {
			t.Errorf("%v are left of a grant that has ended", st.Lease.Reserve)
		}
	})
}

func TestStatsCountRenewalsThatAreNotAcknowledgedWhileOneIsUnderWay(t *testing.T) {
	s := &script{}
	broken := errors.New("outcome unknown: connection reset")
	renewals := 0
	s.renew = func(ctx context.Context, r Renewal) (Renewed, error) {
		switch renewals++; renewals {
		case 1:
			return Renewed{}, broken
		case 2:
			time.Sleep(300 * time.Millisecond)
			return s.raise(r), nil
		}
		<-ctx.Done()
		return Renewed{}, ctx.Err()
	}
	keep(t, s, func(k *Keeper) {
		time.Sleep(1700 * time.Millisecond)
		synctest.Wait()
		if st := k.Stats(); !errors.Is(st.Cause, broken) || !st.Lease.Held || st.Lease.Renewals["unknown"] != 1 {
			t.Errorf("after an unknown outcome: %+v", st)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		st := k.Stats()
		if st.Cause != nil || st.Lease.Renewals["ok"] != 1 || !st.Clock.Known ||
			st.Clock.RoundTrip != 300*time.Millisecond {
			t.Errorf("after a renewal: %+v", st)
		}
		if h := st.Lease.RenewalDurations; h.Count() != 2 || h.Sum != 300*time.Millisecond {
			t.Errorf("the renewals took %+v", h)
		}
		time.Sleep(3 * time.Second) // the third waits for its answer
		if st := k.Stats(); st.Lease.Reserve == 0 || st.Lease.Renewals["ok"] != 1 {
			t.Errorf("while a renewal waits: %+v", st)
		}
	})
}

func TestStatsOfAKeeperThatHasEndedHaveNothingLeft(t *testing.T) {
	s := &script{}
	var k *Keeper
	keep(t, s, func(running *Keeper) { k = running })
	if st := k.Stats(); st.Lease.Held || st.Lease.Reserve != 0 || !st.Lease.Granted {
		t.Errorf("after the end: %+v", st)
	}
}

func TestStatsSayHowFarIDsAreAheadOfADatabaseWhoseClockWasSetBack(t *testing.T) {
	s := &script{}
	s.renew = func(_ context.Context, r Renewal) (Renewed, error) {
		return Renewed{Until: r.Wanted, DatabaseMicros: s.micros() - (10 * time.Second).Microseconds()}, nil
	}
	keep(t, s, func(k *Keeper) {
		if st := k.Stats(); st.Clock.Ahead != 0 {
			t.Errorf("IDs are %v ahead of a clock that was not set", st.Clock.Ahead)
		}
		time.Sleep(1700 * time.Millisecond)
		synctest.Wait()
		before := k.Stats().Clock.Ahead
		if before < 9*time.Second || before > 10*time.Second {
			t.Errorf("IDs are %v ahead of a clock that was set back by 10 s", before)
		}
		time.Sleep(time.Second)
		if after := k.Stats().Clock.Ahead; before-after != 100*time.Millisecond {
			t.Errorf("a second later they are %v ahead after %v; expected a tenth of a second less", after, before)
		}
	})
}

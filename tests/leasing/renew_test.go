package leasing

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/server"
)

const never = int64(1) << 60 // a mark that only a wrong clock would ask for

func TestInvariant5APoisonedWishIsCappedHoweverOftenItIsRepeated(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	for range 20 {
		a.Grant.Until = r.renew(s, renewal(a, never)).Until
	}
	if ahead := a.Grant.Until - r.now(); ahead > (window + skew).Milliseconds() {
		t.Errorf("the mark is %d ticks ahead after 20 renewals, at most %v are allowed", ahead, window+skew)
	}
	if a.Grant.Until != r.mark(a.Worker) {
		t.Errorf("acknowledged %d, the row has %d", a.Grant.Until, r.mark(a.Worker))
	}
}

func TestInvariant5AWindowLongerThanTheNamespacesIsCapped(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	asked := renewal(r.acquire(s, "a"), never)
	asked.Window = never
	if ahead := r.renew(s, asked).Until - r.now(); ahead > (window + skew).Milliseconds() {
		t.Errorf("the mark is %d ticks ahead", ahead)
	}
}

func TestInvariant5AfterTheDatabasesClockWasSetBackTheMarkMovesOnButDoesNotRunAway(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	a.Grant.Until = r.renew(s, renewal(a, never)).Until
	r.pass(-time.Hour)
	ahead := (time.Hour + window + skew).Milliseconds()
	before := a.Grant.Until
	for range 50 {
		renewed := r.renew(s, renewal(a, never))
		if late := time.Duration(renewed.Until-a.Grant.Until) * time.Millisecond; late > 15*time.Second {
			t.Fatalf("one renewal moved the mark by %v", late)
		}
		a.Grant.Until = renewed.Until
	}
	if a.Grant.Until <= before {
		t.Error("the mark stands still, so the holder would stall")
	}
	if now := a.Grant.Until - r.now(); now > ahead {
		t.Errorf("the mark was at most %d ticks ahead, now it is %d", ahead, now)
	}
}

func TestInvariant3ARenewalNeverLowersTheMarkAndAlwaysWrites(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	version := func() string {
		return ask[string](r, "SELECT xmin::text FROM pgflurry.worker WHERE worker = $1", a.Worker)
	}
	before := version()
	renewed := r.renew(s, renewal(a, 0))
	if renewed.Until != a.Grant.Until {
		t.Errorf("the mark went from %d to %d", a.Grant.Until, renewed.Until)
	}
	if version() == before {
		t.Error("nothing was written: what was acknowledged is only what was read")
	}
	_, err := r.conn.Exec(r.context(),
		"UPDATE pgflurry.worker SET reserved_until = reserved_until - 1 WHERE worker = $1", a.Worker)
	if err == nil {
		t.Error("a mark could be lowered by hand")
	}
}

func TestALeaseThatWasTakenRetiredReleasedForgottenOrLeftTooLongIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happen func(r *room, a *lease.Acquired)
		check  func(l *lease.Lost) bool
	}{
		"taken over": {func(r *room, _ *lease.Acquired) {
			r.pass(5*time.Second + quarantine)
			r.acquire(r.store(r.url), "the other")
		}, func(l *lease.Lost) bool { return l.Taken && l.Node == "the other" }},
		"retired": {func(r *room, _ *lease.Acquired) {
			r.do("UPDATE pgflurry.worker SET retired_at = now() WHERE worker = 1")
		}, func(l *lease.Lost) bool { return l.Retired && !l.Taken }},
		"released": {func(r *room, a *lease.Acquired) {
			r.release(r.store(r.url), a.Lease)
		}, func(l *lease.Lost) bool { return !l.Taken && !l.Retired && !l.Expired && !l.CommitLost() }},
		"its commit forgotten": {func(_ *room, a *lease.Acquired) {
			a.Grant.Until++
		}, func(l *lease.Lost) bool { return l.CommitLost() && !l.Taken }},
		"another owner in the same term": {func(r *room, a *lease.Acquired) { // a failover may give a term twice
			a.Owner = r.request("a").Owner
		}, func(l *lease.Lost) bool { return l.Taken }},
		"another term": {func(_ *room, a *lease.Acquired) {
			a.Term++
		}, func(l *lease.Lost) bool { return l.Taken }},
		"left until others might have had it, by a clock ahead by the skew": {func(r *room, _ *lease.Acquired) {
			r.pass(5*time.Second + quarantine - skew)
		}, func(l *lease.Lost) bool { return l.Expired && !l.Taken }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, tiny)
			s := r.store(r.url)
			a := r.acquire(s, "a")
			c.happen(r, &a)
			mark := r.mark(1)
			_, err := s.Renew(r.context(), renewal(a, never))
			var lost *lease.Lost
			if !errors.As(err, &lost) || !c.check(lost) {
				t.Errorf("error %+v (%v)", lost, err)
			}
			if r.mark(1) != mark {
				t.Error("the mark moved")
			}
		})
	}
}

func TestAHolderMayRenewAfterItsGrantHasEndedIfNobodyCouldHaveHadItsWorker(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	r.pass(quarantine)
	if renewed := r.renew(s, renewal(a, r.now()+5000)); renewed.Until <= r.now() {
		t.Errorf("renewed until %d, now is %d", renewed.Until, r.now())
	}
}

func TestAReleaseBringsBackTheAcknowledgedMarkThatTheRowHasForgotten(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	acknowledged := a.Grant.Until + 30_000 // acknowledged by a renewal that the row has lost
	var lost *lease.Lost
	if err := s.Release(r.context(), a.Lease, acknowledged); !errors.As(err, &lost) || !lost.Forgot {
		t.Fatalf("release: %v, expected that it tells of lost writes", err)
	}
	if mark := r.mark(1); mark != acknowledged {
		t.Errorf("the mark is %d, but IDs up to %d may exist", mark, acknowledged)
	}
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.GateClosed {
		t.Fatalf("acquire: %v, expected the gate, because acknowledged writes are gone", err)
	}
	r.do("UPDATE pgflurry.namespace SET acquire_after = 0") // as its owner
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) || refusal.Until != acknowledged {
		t.Errorf("acquire: %v, expected that the worker is free at %d", err, acknowledged)
	}
}

func TestALateReleaseOfALostLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	r.pass(5*time.Second + quarantine)
	b := r.acquire(s, "b")
	r.release(s, a.Lease)
	r.renew(s, renewal(b, b.Grant.Until+1))
}

func TestALockedRowIsUnknownAndBlockedWhileOthersAreFree(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	r.do("BEGIN")
	r.do("SELECT FROM pgflurry.worker WHERE worker = $1 FOR UPDATE", a.Worker)
	ctx, cancel := context.WithTimeout(r.context(), 400*time.Millisecond)
	defer cancel()
	if _, err := s.Renew(ctx, renewal(a, never)); !errors.Is(err, lease.ErrBlocked) {
		t.Errorf("error %v, expected that the row is locked", err)
	}
	if b := r.acquire(r.store(r.url), "a"); b.Worker == a.Worker {
		t.Error("the locked worker was granted")
	}
	r.do("ROLLBACK")
	if r.mark(a.Worker) != a.Grant.Until {
		t.Error("the mark moved")
	}
	r.renew(s, renewal(a, never))
}

func TestSettingsOfTheRoleDoNotBreakOrWeakenALease(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	role := "leaser_" + ask[string](r, "SELECT current_database()")
	url := server.Role(t, r.url, role)
	r.do("CALL pgflurry.grant_lease('" + role + "')")
	for _, setting := range []string{
		"default_transaction_read_only = on",
		"default_transaction_isolation = serializable",
		"default_transaction_deferrable = on",
		"search_path = evil, pg_catalog",
		"client_min_messages = error",
		"statement_timeout = '1 s'",
		"lock_timeout = 1",
		"datestyle = 'German, DMY'",
		"intervalstyle = iso_8601",
		"timezone = 'Asia/Kathmandu'",
		"bytea_output = escape",
		"synchronous_commit = off",
	} {
		r.do("ALTER ROLE " + role + " SET " + setting)
	}
	// PostgreSQL would find this operator first if the statement used the role's search_path
	r.do("CREATE SCHEMA evil")
	r.do("CREATE FUNCTION evil.ge(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
	r.do("CREATE OPERATOR evil.>= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.ge)")
	r.do("GRANT USAGE ON SCHEMA evil TO " + role)

	s := r.store(url)
	a := r.acquire(s, "a")
	renewed := r.renew(s, renewal(a, never))
	if ahead := renewed.Until - r.now(); ahead > (window + skew).Milliseconds() {
		t.Errorf("the mark is %d ticks ahead", ahead)
	}
	stale := renewal(a, never)
	stale.Acknowledged = renewed.Until + 1
	if _, err := s.Renew(r.context(), stale); !errors.As(err, new(*lease.Lost)) {
		t.Errorf("a mark below the acknowledged one: %v", err)
	}
	r.release(s, a.Lease)
}

func TestAConcurrentChangeIsDecidedByTheRowAsItIsThen(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	a := r.acquire(s, "a")
	r.do("BEGIN")
	r.do("UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = term + 1 WHERE worker = 1")
	result := make(chan error, 1)
	ctx := r.context()
	go func() {
		_, err := s.Renew(ctx, renewal(a, never))
		result <- err
	}()
	server.Blocked(t, server.Connect(t, r.url), 1)
	r.do("COMMIT")
	if err := <-result; !errors.As(err, new(*lease.Lost)) {
		t.Errorf("error %v, expected that the lease is lost", err)
	}
}

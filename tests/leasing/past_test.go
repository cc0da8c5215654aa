package leasing

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pgflurry/lease"
	"pgflurry/tests/support/server"
)

// past asks for the past of a worker from a tick on.
func (r *room) past(from int64) lease.PastRequest {
	return lease.PastRequest{
		Namespace: r.namespace, For: "backfill of public.item.id", Address: "database shop", Version: "test",
		From: from, NothingLost: true,
	}
}

// refusedPast asks for a past that is not given.
func (r *room) refusedPast(s *lease.Postgres, from int64) *lease.PastError {
	r.t.Helper()
	request := r.past(from)
	request.NothingLost = false
	grant, err := s.AcquirePast(r.context(), request)
	var refused *lease.PastError
	if !errors.As(err, &refused) {
		r.t.Fatalf("got %+v, %v; expected a *PastError", grant, err)
	}
	return refused
}

func (r *room) acquirePast(s *lease.Postgres, p lease.PastRequest) lease.Grant {
	r.t.Helper()
	grant, err := s.AcquirePast(r.context(), p)
	if err != nil {
		r.t.Fatal(err)
	}
	return grant
}

func TestInvariant4NoTickOfAPastIsInAnotherGrantOfItsWorker(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny) // one worker for proxies
	s := r.store(r.url)
	before := r.now()
	first := r.acquirePast(s, r.past(0))
	if first.From != 0 || first.Until <= before || first.Until > r.now()+1 {
		t.Fatalf("the past of a worker that was never used is %+v, expected from 0 to now, %d", first, before)
	}
	r.pass(time.Second)
	leased := r.acquire(s, "a proxy")
	if leased.Grant.From < first.Until || leased.Term != 2 {
		t.Errorf("a proxy got %+v in term %d, below the end of the past, %d", leased.Grant, leased.Term, first.Until)
	}
	if refused := r.refusedPast(s, first.Until); refused.Longest != nil {
		t.Errorf("while a proxy has the worker: %+v", refused)
	}
	r.release(s, leased.Lease)
	r.pass(time.Minute)
	// from its mark on the worker has a past again, and nobody gets what is below
	used := leased.Grant.Until
	if refused := r.refusedPast(s, used-1); refused.Longest == nil || *refused.Longest != used {
		t.Errorf("the worker was used until %d: %+v", used, refused)
	}
	if again := r.acquirePast(s, r.past(used)); again.From != used || again.Until <= used {
		t.Errorf("the second past is %+v, expected from %d", again, used)
	}
}

func TestAWorkerWhosePastWasTakenSaysWhatForInListAndHistory(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	r.acquirePast(s, r.past(0))
	if row := r.listed()[1]; row["node"] != "backfill of public.item.id" || row["address"] != "database shop" {
		t.Errorf("the worker is listed as %v", row)
	}
	r.pass(time.Second)
	r.acquire(s, "a proxy")
	held, err := lease.History(r.context(), r.conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tenure := range held {
		if tenure.Node == "backfill of public.item.id" && tenure.Term == 1 && tenure.Worker == 1 {
			return
		}
	}
	t.Errorf("the history lacks the backfill: %+v", held)
}

func TestOfManyWhoTakePastsAtOnceNoTwoGetTheSame(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small) // seven workers for proxies
	grants := make(chan lease.Grant, 20)
	var all sync.WaitGroup
	for range cap(grants) {
		s, request := r.store(r.url), r.past(0)
		all.Go(func() {
			if grant, err := s.AcquirePast(r.context(), request); err == nil {
				grants <- grant
			} else if !errors.As(err, new(*lease.PastError)) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(grants)
	seen := map[int]bool{}
	for grant := range grants {
		if grant.From != 0 || seen[grant.Worker] {
			t.Errorf("worker %d again, or not from 0: %+v", grant.Worker, grant)
		}
		seen[grant.Worker] = true
	}
	if len(seen) == 0 || len(seen) > 7 {
		t.Errorf("%d pasts were given", len(seen))
	}
}

func TestAPastReachesBackBeyondWhatAServerMayHaveForgottenOnlyIfTheOperatorVouches(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(r *room) (known int64){
		"after a failover whose gate has opened": func(r *room) int64 {
			r.do("UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp())")
			return ask[int64](r, "SELECT acquire_after FROM pgflurry.namespace")
		},
		"after a gate that was opened by hand": func(r *room) int64 {
			r.do("UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp() + interval '1 min')")
			if _, errs, code := r.workers("open-gate", "--yes"); code != 0 {
				r.t.Fatal(errs)
			}
			return r.now()
		},
		"in an ID space that is younger": func(r *room) int64 {
			return ask[int64](r, "SELECT pgflurry.ticks(created_at) + 1 FROM pgflurry.namespace")
		},
		"after a restart": func(r *room) int64 {
			r.do("UPDATE pgflurry.namespace SET born = NULL, restart_quarantine = '1 ms'")
			return ask[int64](r, "SELECT pgflurry.ticks(pg_postmaster_start_time()) + 2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, tiny)
			s := r.store(r.url)
			known := forget(r)
			r.pass(time.Second)
			if refused := r.refusedPast(s, known-1); refused.Known < known || refused.Known > r.now() {
				t.Errorf("refused with %+v; the rows are sure from %d on", refused, known)
			}
			if grant := r.acquirePast(s, r.past(0)); grant.From != 0 {
				t.Errorf("the operator vouches, and the past is %+v", grant)
			}
		})
	}
}

func TestNoPastIsGivenWhileNoWorkerIsGranted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		reason lease.Reason
	}{
		"an unnoticed failover": {"UPDATE pgflurry.namespace SET timeline = '0000ABCD'", lease.GateClosed},
		"a closed gate": {
			"UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp()) + 60000",
			lease.GateClosed,
		},
		"a server that has just started": {
			"UPDATE pgflurry.namespace SET born = NULL, restart_quarantine = '365 days'", lease.Starting,
		},
		"a copy":            {"UPDATE pgflurry.namespace SET database_oid = 1", lease.Copy},
		"a closed database": {"CALL pgflurry.close_database()", lease.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, tiny)
			r.do(test.script)
			request := r.past(0)
			_, err := r.store(r.url).AcquirePast(r.context(), request)
			var refusal *lease.Refusal
			if !errors.As(err, &refusal) || refusal.Reason != test.reason {
				t.Errorf("%v; expected a refusal: %s", err, test.reason)
			}
			if n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0"); n != 0 {
				t.Errorf("%d workers were taken", n)
			}
		})
	}
}

func TestARoleTakesThePastOfWorkersThatItMayLeaseAndOfNoOther(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	url := server.Role(t, r.url, "past_lessee")
	r.do("CALL pgflurry.grant_lease('past_lessee', '[3,4)')")
	s := r.store(url)
	if grant := r.acquirePast(s, r.past(0)); grant.Worker != 3 {
		t.Errorf("the role may lease worker 3 alone, and got %+v", grant)
	}
	r.pass(time.Second)
	if refused := r.refusedPast(s, 0); refused.Longest == nil || *refused.Longest == 0 {
		t.Errorf("its one worker is used: %+v", refused)
	}
	stranger := r.store(server.Role(t, r.url, "past_stranger"))
	if _, err := stranger.AcquirePast(r.context(), r.past(0)); err == nil {
		t.Error("a role without a right took the past of a worker")
	}
}

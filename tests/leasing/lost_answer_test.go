package leasing

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/network"
)

// The network may end within the answer, at any byte. The write is done then, and the client does not know. Only a
// whole answer counts.
func TestInvariants1And2AnAnswerThatEndsAtAnyByteIsNoAcknowledgement(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	link, through := network.To(t, r.url)
	s := r.store(through)
	a := r.acquire(s, "a")
	acknowledged := func(bytes int) bool {
		// use an open connection, so that only the next answer is counted
		a.Grant.Until = r.renew(s, renewal(a, a.Grant.Until+10)).Until
		link.CutAnswers(bytes)
		renewed, err := s.Renew(r.context(), renewal(a, a.Grant.Until+10))
		link.Heal()
		switch {
		case err == nil && renewed.Until != r.mark(a.Worker):
			t.Errorf("after %d bytes: acknowledged %d, the row has %d", bytes, renewed.Until, r.mark(a.Worker))
		case errors.As(err, new(*lease.Lost)) || errors.As(err, new(*lease.Refusal)):
			t.Fatalf("after %d bytes: %v, expected an unknown outcome", bytes, err)
		case err != nil:
			r.until("SELECT reserved_until = $2 FROM pgflurry.worker WHERE worker = $1", a.Worker, a.Grant.Until+10)
		}
		return err == nil
	}
	const step = 16
	whole := step
	for !acknowledged(whole) {
		whole += step
	}
	if whole < 200 {
		t.Errorf("the whole answer has at most %d bytes: this proves little", whole)
	}
	// try the last bytes one by one: they hold the end of the row, the tags of write and commit, and ReadyForQuery
	bytes := whole - 4*step
	for !acknowledged(bytes) {
		bytes++
	}
	if bytes <= whole-step || bytes > whole {
		t.Errorf("the whole answer has %d bytes, but of about %d nothing was acknowledged before", bytes, whole)
	}
}

func TestAnAcquisitionWhoseAnswerIsLostLeavesAWorkerThatNobodyUsesUntilItsQuarantineIsOver(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	link, through := network.To(t, r.url)
	s := r.store(through)
	open := r.acquire(s, "a")
	link.CutAnswers(100)
	if _, err := s.Acquire(r.context(), r.request("a")); err == nil || errors.As(err, new(*lease.Refusal)) {
		t.Fatalf("error %v, expected an unknown outcome", err)
	}
	link.Heal()
	r.until("SELECT count(*) = 2 FROM pgflurry.worker WHERE kind = 'proxy' AND term = 1")
	unused := ask[int](r, "SELECT worker FROM pgflurry.worker WHERE kind = 'proxy' AND term = 1 AND worker <> $1",
		open.Worker)
	for range 5 {
		if a := r.acquire(s, "a"); a.Worker == unused {
			t.Errorf("worker %d was granted again", unused)
		}
	}
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("a")); !errors.As(err, &refusal) {
		t.Errorf("error %v, expected that no worker is free", err)
	}
	r.pass(5*time.Second + quarantine)
	r.acquire(s, "a")
}

// Silence is no answer either. The write may even happen long after the client gave up.
func TestARenewalInASilentNetworkIsUnknownAtItsDeadline(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	link, through := network.To(t, r.url)
	s := r.store(through)
	a := r.acquire(s, "a")
	link.Silence()
	for range 2 { // on the open connection, and on one that never opens
		ctx, cancel := context.WithTimeout(r.context(), 300*time.Millisecond)
		if _, err := s.Renew(ctx, renewal(a, never)); err == nil || errors.As(err, new(*lease.Lost)) {
			t.Errorf("error %v, expected an unknown outcome", err)
		}
		cancel()
	}
	link.Heal()
	r.renew(s, renewal(a, never))
}

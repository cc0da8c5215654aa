package leasing

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/server"
)

// granted is a role that may lease the workers from lowest to highest.
func (r *room) granted(role string, lowest, highest int) string {
	r.t.Helper()
	url := server.Role(r.t, r.url, role)
	r.do(fmt.Sprintf("CALL pgflurry.grant_lease('%s', workers => '[%d,%d]')", role, lowest, highest))
	return url
}

func TestARoleWithARangeLeasesItsWorkersAlone(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	lowest := ask[int](r, "SELECT min(worker) FROM pgflurry.worker WHERE kind = 'proxy'")
	const role = "leases_two"
	url := r.granted(role, lowest+1, lowest+2)
	conn := server.Connect(t, url)
	for _, change := range []string{
		"released_at = now()", "owner = gen_random_uuid()", "term = term + 1", "node = 'x'",
		"reserved_until = pgflurry.ticks(clock_timestamp())",
	} {
		server.Refused(t, conn, "42501", fmt.Sprintf("UPDATE pgflurry.worker SET %s WHERE worker = %d", change, lowest))
	}
	for _, other := range []string{
		"UPDATE pgflurry.segment SET max_id = max_id + 1", "SELECT FROM pgflurry.client",
		"SELECT FROM pgflurry.lease_range",
		"DELETE FROM pgflurry.lease_range", "SELECT FROM pgflurry.client_secret",
		"CALL pgflurry.grant_lease('" + role + "')",
	} {
		server.Refused(t, conn, "42501", other)
	}
	s := r.store(url)
	first, second := r.acquire(s, "a"), r.acquire(s, "b")
	if first.Worker+second.Worker != 2*lowest+3 {
		t.Errorf("workers %d and %d were granted", first.Worker, second.Worker)
	}
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("c")); !errors.As(err, &refusal) || refusal.Workers != 2 {
		t.Errorf("the third of two: %v", err)
	}
	r.renew(s, renewal(first, never))
	r.release(s, first.Lease)

	// Who writes everything does not write the range, and a member has that of its group.
	r.do("GRANT pg_write_all_data TO " + role)
	server.Refused(t, conn, "42501", "DELETE FROM pgflurry.lease_range")
	server.Refused(t, conn, "42501", fmt.Sprintf("UPDATE pgflurry.worker SET node = 'x' WHERE worker = %d", lowest))
	member := server.Role(t, r.url, "member_of_two")
	r.do("GRANT " + role + " TO member_of_two")
	server.Refused(t, server.Connect(t, member), "42501",
		fmt.Sprintf("UPDATE pgflurry.worker SET node = 'x' WHERE worker = %d", lowest))
}

func TestARangeThatMovesTakesTheLeaseAtTheNextRenewalAndTheLastCallHolds(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	lowest := ask[int](r, "SELECT min(worker) FROM pgflurry.worker WHERE kind = 'proxy'")
	const role = "moves"
	url := r.granted(role, lowest, lowest)
	s := r.store(url)
	held := r.acquire(s, "a")
	r.do(fmt.Sprintf("ALTER ROLE %s RENAME TO moves_on; CALL pgflurry.grant_lease('moves_on', '[%d,%d]')",
		role, lowest+1, lowest+1))
	s = r.store(server.As(t, r.url, "moves_on", "moves_on"))
	t.Cleanup(func() { server.Exec(t, r.url, "ALTER ROLE moves_on RENAME TO "+role) })
	var lost *lease.Lost
	if _, err := s.Renew(r.context(), renewal(held, never)); !errors.As(err, &lost) || lost.CommitLost() {
		t.Errorf("a renewal outside of the range: %v; expected that the lease is lost", err)
	}
	if next := r.acquire(s, "a"); next.Worker != lowest+1 {
		t.Errorf("worker %d is granted", next.Worker)
	}
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.lease_range"); n != 1 {
		t.Errorf("there are %d ranges", n)
	}
	r.do("CALL pgflurry.grant_lease('moves_on')")
	r.renew(s, renewal(held, never)) // of the row that nobody took
	server.Refused(t, server.Connect(t, r.url), "22023", "CALL pgflurry.grant_lease('moves_on', '[0,1)')")
}

// A restore may lose the rows of the ranges, because their roles are missing: then none of them fails open.
func TestARoleThatGrantLeaseDoesNotKnowLeasesNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	const role = "unknown_to_grant_lease"
	url, conn := r.keeperRole(role)
	s := r.store(url)
	held := r.acquire(s, "a")
	server.Exec(t, r.url, "DELETE FROM pgflurry.lease_range")
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) ||
		!strings.Contains(err.Error(), "CALL pgflurry.grant_lease") {
		t.Errorf("a role without a range: %v", err)
	}
	var lost *lease.Lost
	if _, err := s.Renew(r.context(), renewal(held, never)); !errors.As(err, &lost) {
		t.Errorf("a renewal without a range: %v", err)
	}
	server.Refused(t, conn, "42501",
		fmt.Sprintf("UPDATE pgflurry.worker SET node = 'x' WHERE worker = %d", held.Worker))
	r.do("CREATE ROLE soon_gone; CALL pgflurry.grant_lease('soon_gone'); DROP OWNED BY soon_gone; DROP ROLE soon_gone")
	r.do("CALL pgflurry.grant_lease('" + role + "')")
	r.renew(s, renewal(held, never))
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.lease_range"); n != 1 {
		t.Errorf("there are %d ranges: that of a role that is gone stays", n)
	}
}

func TestGrantLeaseRefusesARangeThatWouldNotHold(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	conn := server.Connect(t, r.url)
	server.Refused(t, conn, "0LP01", "CALL pgflurry.grant_lease(current_user, workers => '[1,2)')")
	server.Refused(t, conn, "42704", "CALL pgflurry.grant_lease(NULL)")
	server.Refused(t, conn, "42704", "CALL pgflurry.grant_lease('no such role')")
	r.do("CALL pgflurry.grant_lease(current_user)")
}

// A right to change rows is a right to lock them: every process once waited for such a role.
func TestARoleWithARangeLocksNobodyElse(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	lowest := ask[int](r, "SELECT min(worker) FROM pgflurry.worker WHERE kind = 'proxy'")
	conn := server.Connect(t, r.granted("locks", lowest, lowest))
	server.Do(t, conn, "BEGIN")
	server.Do(t, conn, "SELECT FROM pgflurry.leasable_worker FOR UPDATE")
	s := r.store(r.url)
	held := r.acquire(s, "a")
	r.renew(s, renewal(held, never))
	r.release(s, held.Lease)
	server.Do(t, conn, "ROLLBACK")
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.leasable_worker WHERE kind <> 'proxy'"); n > 0 {
		t.Errorf("the owner may lease %d workers of functions", n)
	}
	for _, lock := range []string{
		"SELECT FROM pgflurry.worker FOR UPDATE", "SELECT FROM pgflurry.worker FOR KEY SHARE",
		"DO $$ BEGIN LOCK TABLE pgflurry.worker IN ROW EXCLUSIVE MODE; END $$",
		"DO $$ BEGIN LOCK TABLE pgflurry.leasable_worker IN SHARE MODE; END $$",
		"DO $$ BEGIN LOCK TABLE pgflurry.namespace IN SHARE MODE; END $$", "SELECT FROM pgflurry.segment FOR UPDATE",
	} {
		server.Refused(t, conn, "42501", lock)
	}
}

func TestWhoHoldsTheRowsOfAllFreeWorkersIsNamed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	conn := server.Connect(t, r.url)
	server.Do(t, conn, "BEGIN")
	server.Do(t, conn, "SELECT FROM pgflurry.worker FOR UPDATE")
	process := server.Value[int](t, conn, "SELECT pg_backend_pid()")
	_, err := r.store(r.url).Acquire(r.context(), r.request("a"))
	server.Says(t, err, "all that are free are locked by role ", fmt.Sprintf(" (process %d)", process))
}

package unique

import (
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAWorkerWhoseRowSomebodyLocksIsExchangedForAnotherOne(t *testing.T) {
	t.Parallel()
	r := newRoom(t, threeWorkers)
	p := program.Serve(t, r.direct, "locked", short)
	conn := server.Connect(t, p.URL)
	first := r.workerOf(r.drawUntil(conn, r.byProxy))
	printed := p.Printed()
	r.do("BEGIN")
	r.do("SELECT FROM pgflurry.worker WHERE worker = $1 FOR UPDATE", first)
	p.LineFrom(printed, "the database does not acknowledge", "the row is locked by another session")
	if line := p.LineFrom(printed, "worker acquired"); program.Field(line, "worker") == strconv.FormatInt(first, 10) {
		t.Errorf("it took the locked worker again: %s", line)
	}
	r.drawUntil(conn, func(id int64) bool { return r.byProxy(id) && r.workerOf(id) != first })
	r.do("ROLLBACK")
	r.draw(r.conn, 100)
}

// Marks may be a day ahead after a moment with a wrong clock, if nothing caps them, or after somebody has edited the
// table.
func TestPoisonedMarksKeepTheirWorkersOutOfUseAndNothingElse(t *testing.T) {
	t.Parallel()
	r := newRoom(t, threeWorkers)
	holder := program.Serve(t, r.direct, "holder", short)
	conn := server.Connect(t, holder.URL)
	held := r.workerOf(r.drawUntil(conn, r.byProxy))
	r.do(`UPDATE pgflurry.worker
		SET reserved_until = pgflurry.ticks(clock_timestamp() + interval '1 day'), term = 1, owner = gen_random_uuid()
		WHERE kind = 'proxy' AND term = 0`)

	late := program.ServeUnleased(t, r.direct, "late", short)
	// seconds, not minutes: the holder's window is short
	if line := late.Line("no worker is free"); !strings.Contains(line, "the next is free in 2") {
		t.Errorf("it says %s", line)
	}
	other := server.Connect(t, late.URL)
	for range 100 {
		if id := r.draw(other, 1)[0]; r.workerOf(id) != function {
			t.Fatalf("ID %d is of worker %d", id, r.workerOf(id))
		}
	}

	// the holder may use up its own poisoned mark, at the pace of the clock
	r.do(`UPDATE pgflurry.worker
		SET reserved_until = pgflurry.ticks(clock_timestamp() + interval '1 day')
		WHERE worker = $1`, held)
	r.until("SELECT renewed_at > now() - interval '100 ms' FROM pgflurry.worker WHERE worker = $1", held)
	id := r.drawUntil(conn, r.by(held))
	if now := ask[int64](r, "SELECT pgflurry.ticks(clock_timestamp())"); r.tickOf(id) > now {
		t.Errorf("ID %d is of tick %d, now is %d", id, r.tickOf(id), now)
	}
	r.draw(conn, 100)
}

func TestALeaseWhoseRoleLostItsRightsEndsAtTheMarkAndComesBackWithThem(t *testing.T) {
	t.Parallel()
	r := newRoom(t, oneWorker)
	role := "leaser_" + ask[string](r, "SELECT current_database()")
	leaser := server.Role(t, r.direct, role)
	allow := "CALL pgflurry.grant_lease('" + role + "')"
	r.do(allow)
	p := program.Serve(t, r.direct, "careful", short, "--lease-database", leaser)
	conn := server.Connect(t, p.URL)
	r.drawUntil(conn, r.by(1))
	r.do("REVOKE UPDATE ON pgflurry.leasable_worker FROM " + role)
	p.Line("the database does not acknowledge", "42501")
	r.drawUntil(conn, r.by(function))
	r.do(allow)
	r.drawUntil(conn, r.by(1))
}

package leasing

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/server"
)

// keeperRole makes a role that may keep leases, and nothing else. It returns a connection as that role.
func (r *room) keeperRole(name string) (url string, conn *pgx.Conn) {
	r.t.Helper()
	url = server.Role(r.t, r.url, name)
	r.do("CALL pgflurry.grant_lease('" + name + "')")
	return url, server.Connect(r.t, url)
}

func TestARoleThatKeepsLeasesClosesTheGateForTheQuarantineAtMostAndTheOwnerOpensIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	url, conn := r.keeperRole("closes_gates")
	for _, after := range []string{
		"1::bigint << 40", "pgflurry.ticks(clock_timestamp() + quarantine + 3 * skew)", "-1",
	} {
		server.Refused(t, conn, "42501", "UPDATE pgflurry.namespace SET acquire_after = "+after)
	}
	if gate := r.gate(); gate != 0 {
		t.Fatalf("the gate opens at %d", gate)
	}
	server.Do(t, conn, "SET application_name = 'an attack'; "+
		"UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp() + quarantine + skew)")
	server.Refused(t, conn, "42501", "UPDATE pgflurry.namespace SET acquire_after = 0")
	var refusal *lease.Refusal
	s := r.store(url)
	if _, err := s.Acquire(r.context(), r.request("a")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.GateClosed || refusal.Wait > quarantine+2*skew {
		t.Fatalf("acquire: %v, expected that the gate is closed for at most %v", err, quarantine+2*skew)
	}
	if !strings.Contains(refusal.By, "closes_gates") || !strings.Contains(refusal.By, "an attack") {
		t.Errorf("the gate was closed by %q", refusal.By)
	}
	r.do("UPDATE pgflurry.namespace SET acquire_after = 0")
	r.acquire(s, "a")
}

func TestARoleThatKeepsLeasesNotesTheServerAndMakesNobodyForgetIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	_, conn := r.keeperRole("forgets_servers")
	r.do("SELECT pgflurry.note_server('db.example:5432')")
	for _, forgets := range []string{
		"NULL", "'{}'", `server || '{"reached": []}'`, "server - 'reached'", "server - 'started'",
		`server || '{"started": 1}'`,
	} {
		server.Refused(t, conn, "42501", "UPDATE pgflurry.namespace SET server = "+forgets)
	}
	server.Do(t, conn, "SELECT pgflurry.note_server('proxy.example:5432')")
	known := ask[string](r, "SELECT server->>'reached' FROM pgflurry.namespace")
	if !strings.Contains(known, "db.example:5432") || !strings.Contains(known, "proxy.example:5432") {
		t.Errorf("the server is known to be reached at %s; expected both addresses", known)
	}
	// another one, started at another time and reached elsewhere, as on a copy that nobody has declared
	r.do(`UPDATE pgflurry.namespace
		SET server = '{"started": 1, "address": "10.9.9.9", "port": 1, "reached": ["a:1"]}'`)
	server.Refused(t, conn, "42501", `UPDATE pgflurry.namespace
		SET server = pgflurry.this_server() || '{"reached": ["b:1"]}'`)
}

func TestARoleThatKeepsLeasesHidesNoFailover(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	url, conn := r.keeperRole("hides_failovers")
	const hide = "UPDATE pgflurry.namespace SET timeline = pgflurry.wal_timeline()"
	for _, before := range []string{"'0000000A'", "NULL"} {
		r.do("UPDATE pgflurry.namespace SET timeline = " + before)
		server.Refused(t, conn, "42501", hide)
		server.Refused(t, conn, "42501", hide+", acquire_after = pgflurry.ticks(clock_timestamp() + quarantine / 2)")
		var refusal *lease.Refusal
		if _, err := r.store(url).Acquire(r.context(), r.request("a")); !errors.As(err, &refusal) ||
			refusal.Reason != lease.GateClosed {
			t.Errorf("acquire: %v, expected a closed gate", err)
		}
		r.do("UPDATE pgflurry.namespace SET acquire_after = 0")
	}
}

func TestARoleThatKeepsLeasesReservesNoWorkerFurtherThanALeaseNeeds(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	url, conn := r.keeperRole("pushes_marks")
	s := r.store(url)
	held := r.acquire(s, "a")
	const marks = "SELECT string_agg(format('%s %s %s', worker, term, reserved_until), ', ' ORDER BY worker) " +
		"FROM pgflurry.worker"
	before := ask[string](r, marks)
	const ahead = "pgflurry.ticks(clock_timestamp() + interval '%s')"
	for _, change := range []string{
		"reserved_until = 1::bigint << 41",
		"reserved_until = " + fmt.Sprintf(ahead, "66 s"), // window and twice the skew are 64 s
		"reserved_until = " + fmt.Sprintf(ahead, "66 s") + ", renewed_at = '2024-01-01'",
		"term = 9223372036854775807, owner = gen_random_uuid()", // no acquisition could raise it
	} {
		server.Refused(t, conn, "42501", "UPDATE pgflurry.leasable_worker SET "+change+" WHERE kind = 'proxy'")
	}
	if after := ask[string](r, marks); after != before {
		t.Errorf("the rows were %s and are %s", before, after)
	}
	// a renewal that never was would let the next mark rise for all that time
	for _, change := range []string{"", "reserved_until = " + fmt.Sprintf(ahead, "61 s") + ", "} {
		server.Do(t, conn, "UPDATE pgflurry.leasable_worker SET "+change+"renewed_at = '2024-01-01'")
		server.Refused(t, conn, "42501",
			"UPDATE pgflurry.leasable_worker SET reserved_until = "+fmt.Sprintf(ahead, "66 s"))
	}
	if !ask[bool](r, "SELECT min(renewed_at) > clock_timestamp() - interval '1 h' FROM pgflurry.worker") {
		t.Error("the role has written when a worker was renewed")
	}
	server.Do(t, conn, "UPDATE pgflurry.leasable_worker SET reserved_until = "+fmt.Sprintf(ahead, "62 s")+
		" WHERE kind = 'proxy'")
	held.Grant.Until = r.mark(held.Worker)
	r.renew(s, renewal(held, never))
	r.release(s, held.Lease)
}

func TestTheGuardsRefuseNoRenewalAfterTheDatabasesClockWasSetBack(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	if err := r.resize(hour); err != nil {
		t.Fatal(err)
	}
	url, _ := r.keeperRole("goes_on")
	s := r.store(url)
	a := r.acquire(s, "a")
	for _, step := range []time.Duration{0, 0, -3 * hour, 0, 0, time.Minute, -time.Hour, 0} {
		r.pass(step)
		asked := renewal(a, never)
		asked.Window = hour.Milliseconds()
		a.Grant.Until = r.renew(s, asked).Until
	}
	r.release(s, a.Lease)
}

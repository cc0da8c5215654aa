package leasing

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// workers runs "pgflurry workers …" on the room's database.
func (r *room) workers(args ...string) (out, errs string, code int) {
	r.t.Helper()
	cmd := exec.Command(program.Path(r.t), append([]string{"workers"}, append(args, "--database", r.url)...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		r.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// listed returns the rows of "workers list --json", by worker.
func (r *room) listed(args ...string) map[int]map[string]any {
	r.t.Helper()
	out, errs, code := r.workers(append([]string{"list", "--json"}, args...)...)
	if code != 0 {
		r.t.Fatalf("exit code %d: %s", code, errs)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		r.t.Fatalf("%v in %s", err, out)
	}
	by := map[int]map[string]any{}
	for _, row := range rows {
		by[int(row["worker"].(float64))] = row
	}
	return by
}

func between(value any, low, high float64) bool {
	n, ok := value.(float64)
	return ok && low <= n && n <= high
}

func TestWorkersListTellsWhoHoldsWhichWorkerUntilWhen(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("SELECT next_snowflake()")
	s := r.store(r.url)
	gone := r.acquire(s, "gone")
	back := r.acquire(s, "back")
	r.release(s, back.Lease)
	r.pass(10 * time.Second) // the first is in quarantine, the second is free
	r.do(`UPDATE pgflurry.worker SET retired_at = now()
		WHERE worker = (SELECT max(worker) FROM pgflurry.worker WHERE kind = 'proxy' AND term = 0)`)
	given := r.acquire(s, "given")
	r.renew(s, renewal(given, never))
	r.release(s, given.Lease)
	held := r.acquire(s, "holder")
	r.renew(s, renewal(held, never))

	rows := r.listed()
	for worker, want := range map[int]string{
		gone.Worker: "quarantined", back.Worker: "free", given.Worker: "released", held.Worker: "held", 0: "function",
	} {
		if rows[worker]["state"] != want {
			t.Errorf("worker %d is %v, expected %s: %v", worker, rows[worker]["state"], want, rows[worker])
		}
	}
	if row := rows[held.Worker]; row["node"] != "holder" || row["address"] != "127.0.0.1:6532" ||
		row["version"] != "test" || !between(row["left_seconds"], 30, 62) ||
		!between(row["free_in_seconds"], 150, 182) {
		t.Errorf("held: %v", row)
	}
	if row := rows[gone.Worker]; row["left_seconds"] != 0.0 || !between(row["free_in_seconds"], 80, 115) {
		t.Errorf("quarantined: %v", row)
	}
	if row := rows[back.Worker]; row["free_in_seconds"] != 0.0 {
		t.Errorf("free: %v", row)
	}
	if row := rows[0]; row["reserved_until"] == nil || row["free_in_seconds"] != nil {
		t.Errorf("the function's own: %v", row)
	}
	if len(rows) != 6 { // five, and the retired one
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	if all := r.listed("--all"); len(all) != 8 {
		t.Errorf("%d rows with --all, expected 8", len(all))
	}
	out, errs, _ := r.workers("list")
	for _, words := range []string{
		"RESERVED UNTIL", "holder", "quarantined", "2 workers for proxies and 0 for functions were never used",
	} {
		if !strings.Contains(out, words) {
			t.Errorf("the list for people lacks %q:\n%s", words, out)
		}
	}
	if errs != "" {
		t.Errorf("warned: %s", errs)
	}
}

func TestWorkersListTellsThatTheGateIsClosed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp()) + 90000")
	if out, _, _ := r.workers("list"); !strings.Contains(out, "no worker is granted for another 1m") {
		t.Errorf("it says:\n%s", out)
	}
}

func TestWorkersWarnsInACopyAndRefusesWhereTheRowsAreElsewhere(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("UPDATE pgflurry.namespace SET database_oid = 1")
	if _, errs, code := r.workers("list"); code != 0 || !strings.Contains(errs, "is a copy") ||
		!strings.Contains(errs, "migrate up") {
		t.Errorf("exit code %d, warned: %s", code, errs)
	}
	r.do(`UPDATE pgflurry.namespace
		SET database_oid = (SELECT oid FROM pg_database WHERE datname = current_database()),
			home = 'db.example:5432/shop'`)
	if _, errs, code := r.workers("list"); code != 2 || !strings.Contains(errs, "db.example:5432/shop") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestWorkersRefusesADatabaseThatWasNotMigrated(t *testing.T) {
	t.Parallel()
	r := enterBare(t, server.Database(t))
	if _, errs, code := r.workers("list"); code != 3 || !strings.Contains(errs, "pgflurry migrate up") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestRetireTakesAFreeWorkerOutOfUseAndAHeldOneOnlyKnowingly(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	held := r.acquire(s, "the holder")
	number := func(worker int) string { return ask[string](r, "SELECT $1::int::text", worker) }

	out, errs, code := r.workers("retire", number(held.Worker))
	if code != 1 || !strings.Contains(errs, "the holder") || !strings.Contains(errs, "--held") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	r.renew(s, renewal(held, 0))
	if out, errs, code := r.workers("retire", number(held.Worker), "--held"); code != 0 ||
		!strings.Contains(out, "the holder") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if r.mark(held.Worker) != held.Grant.Until {
		t.Error("the mark moved")
	}
	if _, err := s.Renew(r.context(), renewal(held, never)); !errors.As(err, new(*lease.Lost)) {
		t.Errorf("renewal of a retired worker: %v", err)
	}
	if out, _, code := r.workers("retire", number(held.Worker)); code != 0 || !strings.Contains(out, "before") {
		t.Errorf("a second time: exit code %d, %s", code, out)
	}
	free := held.Worker%7 + 1
	if out, errs, code := r.workers("retire", number(free), "--json"); code != 0 ||
		!strings.Contains(out, `"held": false`) {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE retired_at IS NOT NULL"); n != 2 {
		t.Errorf("%d workers are retired, expected 2", n)
	}
	for argument, want := range map[string]struct {
		words string
		code  int
	}{
		"0": {"function of a database", 1}, "8": {"workers 0 to 7", 2}, "x": {"not the number", 2},
	} {
		if _, errs, code := r.workers("retire", argument); code != want.code || !strings.Contains(errs, want.words) {
			t.Errorf("retire %s: exit code %d, %s", argument, code, errs)
		}
	}
}

func TestReseedRaisesEveryMarkEndsEveryLeaseAndClosesTheGate(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	held := r.acquire(s, "a")
	ahead := r.acquire(s, "b")
	r.do("UPDATE pgflurry.worker SET reserved_until = $2 WHERE worker = $1",
		ahead.Worker, r.now()+time.Hour.Milliseconds())
	released := r.acquire(s, "c")
	r.release(s, released.Lease)

	before := ask[int64](r, "SELECT acquire_after FROM pgflurry.namespace")
	_, errs, code := r.workers("reseed") // nobody types yes
	if code != 1 || !strings.Contains(errs, "end 2 leases") ||
		!strings.Contains(errs, "grant no worker to any proxy for 2m0s") ||
		!strings.Contains(errs, "nothing was changed") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if ask[int64](r, "SELECT acquire_after FROM pgflurry.namespace") != before {
		t.Error("the gate was closed without a yes")
	}
	out, errs, code := r.workers("reseed", "--yes")
	if code != 0 || !strings.Contains(out, ": 6 of 7 workers") || !strings.Contains(out, "leases ended: 2") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	reach := (window + skew).Milliseconds()
	low := ask[int64](r, "SELECT min(reserved_until) FROM pgflurry.worker WHERE kind = 'proxy'") - r.now()
	if low > reach || low < reach-20_000 {
		t.Errorf("the lowest mark is %d ticks ahead, expected about %d", low, reach)
	}
	if high := r.mark(ahead.Worker) - r.now(); high < reach {
		t.Errorf("a mark that was ahead is now %d ticks ahead", high)
	}
	for _, a := range []lease.Acquired{held, ahead} {
		if _, err := s.Renew(r.context(), renewal(a, never)); !errors.As(err, new(*lease.Lost)) {
			t.Errorf("renewal of a lease from before: %v", err)
		}
	}
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("d")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.GateClosed {
		t.Errorf("acquire: %v", err)
	}
	if _, errs, code := r.workers("reseed", "--json", "--yes"); code != 0 {
		t.Errorf("a second time: %s", errs)
	}
	r.pass(quarantine)
	if a := r.acquire(s, "d"); a.Grant.From < held.Grant.Until {
		t.Errorf("granted from %d, a lease from before went until %d", a.Grant.From, held.Grant.Until)
	}
}

func TestReseedIsDurableOrSaysThatItIsNot(t *testing.T) {
	t.Parallel()
	_, r := ownServer(t, small)
	back := missingStandby(r)
	defer back()
	// somebody cancels the wait for the standby
	done := make(chan struct{})
	var errs string
	var code int
	go func() {
		defer close(done)
		for code == 0 { // the first attempts may come before the setting is in force
			_, errs, code = r.workers("reseed", "--yes")
		}
	}()
	r.until(waitingForStandby)
	r.until("SELECT bool_and(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	<-done
	if code != 1 || !strings.Contains(errs, "outcome unknown") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

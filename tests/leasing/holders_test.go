package leasing

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// held returns the rows of "workers history --json".
func (r *room) held(args ...string) (rows []map[string]any) {
	r.t.Helper()
	out, errs, code := r.workers(append([]string{"history", "--json"}, args...)...)
	if code != 0 {
		r.t.Fatalf("exit code %d: %s", code, errs)
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		r.t.Fatalf("%v in %s", err, out)
	}
	return rows
}

func TestTheHistoryNamesEveryHolderOfAWorkerTheLatestFirst(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	for _, node := range []string{"first", "second", "third"} {
		a := r.acquire(s, node)
		if node != "second" { // the second one vanishes without a release
			r.release(s, a.Lease)
		}
		r.pass(window + quarantine)
	}
	rows := r.held("1")
	if len(rows) != 3 {
		t.Fatalf("%d holders, expected 3: %v", len(rows), rows)
	}
	for i, want := range []string{"third", "second", "first"} {
		row := rows[i]
		if row["node"] != want || row["worker"] != 1.0 || row["term"] != float64(3-i) || row["acquired_at"] == nil ||
			row["reserved_until"] == nil || row["address"] != "127.0.0.1:6532" || row["version"] != "test" ||
			(row["released_at"] == nil) != (want == "second") {
			t.Errorf("holder %d: %v, expected %s", i, row, want)
		}
	}
	if all := r.held(); len(all) != 4 || all[3]["worker"] == nil { // one of them is the function's
		t.Errorf("all: %v", all)
	}
	out, _, code := r.workers("history")
	if code != 0 || !strings.Contains(out, "RESERVED UNTIL") || !strings.Contains(out, "second") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, errs, code := r.workers("history", "1", "2"); code != 2 || !strings.Contains(errs, "2 workers were given") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if _, errs, code := r.workers("history", "many"); code != 2 ||
		!strings.Contains(errs, `"many" is not the number of a worker`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestTheHistoryKeepsAHundredFormerHoldersOfAWorker(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	r.do(`DO $$ BEGIN
		FOR i IN 1..130 LOOP
			UPDATE pgflurry.worker
			SET owner = gen_random_uuid(), term = term + 1, node = 'node ' || i,
				acquired_at = clock_timestamp(), renewed_at = clock_timestamp()
			WHERE worker = 1;
		END LOOP;
	END $$`)
	rows := r.held("1")
	if len(rows) != 101 || rows[0]["node"] != "node 130" || rows[100]["node"] != "node 30" {
		t.Errorf("%d rows from %v to %v, expected 101 from node 130 to node 30",
			len(rows), rows[0]["node"], rows[len(rows)-1]["node"])
	}
}

func TestAKeepersRoleWritesTheHistoryAndCanNeitherReadNorChangeIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	role := fmt.Sprintf("keeper_%d", r.now()%1_000_000)
	url := server.Role(t, r.url, role)
	r.do("CALL pgflurry.grant_lease('" + role + "', workers => '(,)')")
	s := r.store(url)
	r.acquire(s, "first")
	r.pass(window + quarantine)
	r.acquire(s, "second")
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.worker_history WHERE node = 'first'"); n != 1 {
		t.Errorf("%d former holders, expected 1", n)
	}
	for _, statement := range []string{
		"DELETE FROM pgflurry.worker_history", "UPDATE pgflurry.worker_history SET node = 'me'",
		"SELECT * FROM pgflurry.worker_history",
		"INSERT INTO pgflurry.worker_history (worker, term, kind, reserved_until) VALUES (1, 9, 'proxy', 0)",
	} {
		if _, err := server.Connect(t, url).Exec(r.context(), statement); err == nil ||
			!strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	r.url = url
	if _, errs, code := r.workers("history"); code != 1 ||
		!strings.Contains(errs, "hint: As the owner run: CALL pgflurry.grant_lease('"+role+"');") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

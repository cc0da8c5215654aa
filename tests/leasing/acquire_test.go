package leasing

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestANodeGetsItsOwnLastWorkerThenANeverUsedOneThenTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	first := r.acquire(s, "a")
	r.release(s, first.Lease)
	r.pass(10 * time.Second) // its mark has passed, so any node may take it
	if again := r.acquire(s, "a"); again.Worker != first.Worker || again.Term != 2 {
		t.Errorf("node a got worker %d in term %d, expected its own, %d, in term 2",
			again.Worker, again.Term, first.Worker)
	} else {
		r.release(s, again.Lease)
	}
	r.pass(10 * time.Second)

	used := map[int]bool{first.Worker: true}
	order := []int{first.Worker} // least recently used first
	for range 6 {
		a := r.acquire(s, "b")
		r.release(s, a.Lease)
		r.do("UPDATE pgflurry.worker SET node = 'elsewhere' WHERE node = 'b'") // so that b has no last worker
		if used[a.Worker] {
			t.Fatalf("worker %d again, while others were never used", a.Worker)
		}
		used[a.Worker] = true
		order = append(order, a.Worker)
		r.pass(10 * time.Second)
	}
	if oldest := r.acquire(s, "c"); oldest.Worker != order[0] {
		t.Errorf("node c got worker %d, expected the least recently used, %d of %d", oldest.Worker, order[0], order)
	}
}

func TestNeverUsedWorkersAreTakenAtRandom(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "41/0/10/12")
	s := r.store(r.url)
	lowest := 0
	for range 8 {
		if a := r.acquire(s, "node"); a.Worker <= 8 {
			lowest++
		}
	}
	if lowest == 8 {
		t.Error("eight acquisitions took the eight lowest of 1023 workers")
	}
}

func TestAReleasedWorkerIsFreeAtItsMarkAndAnAbandonedOneAfterTheQuarantine(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	refused := func(wait time.Duration) {
		t.Helper()
		_, err := s.Acquire(r.context(), r.request("b"))
		var refusal *lease.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != lease.NoWorker || refusal.Workers != 1 {
			t.Fatalf("error %v, expected that no worker is free", err)
		}
		if refusal.Wait > wait || refusal.Wait < wait-5*time.Second {
			t.Errorf("the next is free in %v, expected about %v", refusal.Wait, wait)
		}
	}
	first := r.acquire(s, "a")
	refused(5*time.Second + quarantine)
	r.pass(quarantine)
	refused(5 * time.Second)
	r.pass(5 * time.Second)
	second := r.acquire(s, "b")
	if second.Term != 2 || second.Grant.From < first.Grant.Until {
		t.Errorf("took over %+v in term %d; the mark was %d", second.Grant, second.Term, first.Grant.Until)
	}
	r.release(s, second.Lease)
	if r.mark(second.Worker) != second.Grant.Until {
		t.Error("the release moved the mark")
	}
	refused(5 * time.Second)
	r.pass(5 * time.Second)
	third := r.acquire(s, "c")
	if third.Term != 3 || third.Grant.From < second.Grant.Until {
		t.Errorf("took over %+v in term %d; the mark was %d", third.Grant, third.Term, second.Grant.Until)
	}
	r.renew(s, renewal(third, third.Grant.Until+1000)) // from here on somebody holds what was released before
}

func TestARetiredWorkerIsNeverGranted(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tiny)
	s := r.store(r.url)
	r.do("UPDATE pgflurry.worker SET retired_at = now() WHERE worker = 1")
	_, err := s.Acquire(r.context(), r.request("a"))
	var refusal *lease.Refusal
	if !errors.As(err, &refusal) || refusal.Retired != 1 ||
		!strings.Contains(err.Error(), "all 1 workers are retired") {
		t.Errorf("error %v", err)
	}
}

func TestADatabasesOwnWorkerIsNeverGranted(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	for range 7 {
		if a := r.acquire(s, "a"); a.Worker == 0 {
			t.Error("worker 0 belongs to the function in the database")
		}
	}
	if _, err := s.Acquire(r.context(), r.request("a")); !errors.As(err, new(*lease.Refusal)) {
		t.Errorf("error %v after all 7", err)
	}
}

func TestTheJavascriptLayoutLeaves48WorkersToProxiesOr63(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ functions, proxies int }{{0, 48}, {1, 63}} { // 0: the default, 16
		url := server.MigratedWith(t, migrations.Settings{Layout: "javascript", DatabaseWorkers: test.functions})
		r := enter(t, url)
		s := r.store(url)
		for n := range test.proxies {
			if worker := r.acquire(s, fmt.Sprint("proxy ", n)).Worker; worker < 64-test.proxies || worker > 63 {
				t.Errorf("proxy %d got worker %d", n, worker)
			}
		}
		if _, err := s.Acquire(r.context(), r.request("one more")); !errors.As(err, new(*lease.Refusal)) {
			t.Errorf("error %v of one more than %d proxies", err, test.proxies)
		}
	}
}

func TestInvariant4OfManyWhoAcquireAtOnceNoTwoGetTheSameWorker(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	var all sync.WaitGroup
	granted, refused := make(chan int, 20), make(chan error, 20)
	for range 20 {
		s, request := r.store(r.url), r.request("same node")
		ctx := r.context()
		all.Go(func() {
			a, err := s.Acquire(ctx, request)
			for err != nil && errors.As(err, new(*lease.Refusal)) && err.(*lease.Refusal).Wait == 0 {
				a, err = s.Acquire(ctx, request) // others had locked the free rows
			}
			if err != nil {
				refused <- err
			} else {
				granted <- a.Worker
			}
		})
	}
	all.Wait()
	close(granted)
	close(refused)
	seen := map[int]bool{}
	for worker := range granted {
		if seen[worker] {
			t.Errorf("worker %d was granted twice", worker)
		}
		seen[worker] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d workers were granted, expected all 7", len(seen))
	}
	for err := range refused {
		if !errors.As(err, new(*lease.Refusal)) {
			t.Errorf("refused with %v", err)
		}
	}
}

func TestInvariant6AnotherTimelineClosesTheGateForTheQuarantine(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"another one":             "UPDATE pgflurry.namespace SET timeline = '0000000A'",
		"told for the first time": "UPDATE pgflurry.namespace SET timeline = NULL",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, small)
			s := r.store(r.url)
			holder := r.acquire(s, "holder")
			r.do(change)
			closed := func(wait time.Duration) {
				t.Helper()
				_, err := s.Acquire(r.context(), r.request("a"))
				var refusal *lease.Refusal
				if !errors.As(err, &refusal) || refusal.Reason != lease.GateClosed {
					t.Fatalf("error %v, expected a closed gate", err)
				}
				if refusal.Wait > wait || refusal.Wait < wait-5*time.Second {
					t.Errorf("it opens in %v, expected about %v", refusal.Wait, wait)
				}
			}
			closed(quarantine)
			closed(quarantine)
			got := ask[string](r, "SELECT timeline FROM pgflurry.namespace")
			want := ask[string](r, "SELECT pgflurry.wal_timeline()")
			if got != want {
				t.Errorf("the row has timeline %s, the server %s", got, want)
			}
			r.renew(s, renewal(holder, holder.Grant.Until+1000)) // the gate stops acquisitions only
			r.pass(quarantine - time.Second)
			closed(time.Second)
			r.pass(time.Second)
			r.acquire(s, "a")
		})
	}
}

func TestARenewalClosesTheGateTooSoThatTheQuarantineIsOverSooner(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	holder := r.acquire(s, "holder")
	r.do("UPDATE pgflurry.namespace SET timeline = '0000000A'")
	r.renew(s, renewal(holder, holder.Grant.Until+1000))
	opens := ask[int64](r, "SELECT acquire_after FROM pgflurry.namespace")
	if ahead := opens - r.now(); ahead <= 0 || ahead > quarantine.Milliseconds() {
		t.Errorf("the gate opens in %d ticks", ahead)
	}
	if got := ask[string](r, "SELECT timeline FROM pgflurry.namespace"); got == "0000000A" {
		t.Error("the timeline was not stored")
	}
}

func TestARenewalDoesNotWaitForTheGate(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	holder := r.acquire(s, "holder")
	r.do("UPDATE pgflurry.namespace SET timeline = '0000000A'")
	r.do("BEGIN")
	r.do("SELECT FROM pgflurry.namespace FOR UPDATE")
	r.renew(s, renewal(holder, holder.Grant.Until+1000))
	r.do("ROLLBACK")
}

func TestAServerThatTellsNoTimelineGrantsAsEver(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("CREATE OR REPLACE FUNCTION pgflurry.wal_timeline() RETURNS text LANGUAGE sql AS 'SELECT NULL::text'")
	r.acquire(r.store(r.url), "a")
}

func TestOnlyTheRightDatabaseGrants(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	held := r.acquire(s, "a")
	other := r.request("a")
	other.Namespace = "99999999-9999-4999-8999-999999999999"
	if _, err := s.Acquire(r.context(), other); !errors.Is(err, lease.ErrNamespaceMismatch) ||
		!strings.Contains(err.Error(), r.namespace) {
		t.Errorf("acquire: %v", err)
	}
	stranger := held
	stranger.Namespace = other.Namespace
	_, err := s.Renew(r.context(), renewal(stranger, held.Grant.Until))
	if !errors.Is(err, lease.ErrNamespaceMismatch) {
		t.Errorf("renew: %v", err)
	}
	if err := s.Release(r.context(), stranger.Lease, 0); !errors.Is(err, lease.ErrNamespaceMismatch) {
		t.Errorf("release: %v", err)
	}
	if ask[bool](r, "SELECT bool_or(released_at IS NOT NULL) FROM pgflurry.worker") {
		t.Error("a stranger released a worker")
	}
	if r.mark(held.Worker) != held.Grant.Until {
		t.Error("a stranger renewed a worker")
	}
	r.taken(1)

	r.do("UPDATE pgflurry.namespace SET home = 'db.example:5432/shop'")
	if _, err := s.Acquire(r.context(), r.request("a")); !errors.Is(err, lease.ErrElsewhere) ||
		!strings.Contains(err.Error(), "db.example:5432/shop") {
		t.Errorf("a database whose workers are elsewhere: %v", err)
	}
	r.taken(1)
}

func TestACopyOfTheDatabaseNeitherGrantsNorRenews(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	held := r.acquire(s, "a")
	s.Close()
	r.conn.Close(r.context())
	copied := server.TemplateCopy(t, r.url, server.Name(t, r.url)+"_copy")

	s = r.store(copied)
	there := enterBare(t, copied)
	_, err := s.Acquire(r.context(), r.request("b"))
	var refusal *lease.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != lease.Copy || !strings.Contains(err.Error(), "migrate up") {
		t.Errorf("acquire: %v", err)
	}
	if _, err := s.Renew(r.context(), renewal(held, held.Grant.Until)); !errors.As(err, &refusal) ||
		refusal.Reason != lease.Copy {
		t.Errorf("renew: %v, expected that this is a copy", err)
	}
	there.taken(1)
	if there.mark(held.Worker) != held.Grant.Until {
		t.Error("the mark moved in the copy")
	}
}

func TestADatabaseRestoredInPlaceNeitherGrantsNorRenewsUntilSomebodySaysWhatItIs(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	dump := filepath.Join(t.TempDir(), "dump")
	run := func(program string, args ...string) {
		t.Helper()
		command := exec.CommandContext(r.context(), server.Tool(t, program), args...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	before := r.acquire(s, "before the dump")
	run("pg_dump", "--format=custom", "--file", dump, r.url)
	r.acquire(s, "after the dump")
	run("pg_restore", "--clean", "--if-exists", "--exit-on-error", "--dbname", r.url, dump)

	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) || refusal.Reason != lease.Copy {
		t.Errorf("acquire: %v", err)
	}
	if _, err := s.Renew(r.context(), renewal(before, before.Grant.Until)); !errors.As(err, &refusal) ||
		refusal.Reason != lease.Copy {
		t.Errorf("renew: %v", err)
	}
	n, err := namespace.Read(r.context(), r.conn)
	if err != nil {
		t.Fatal(err)
	}
	if why, copied := n.Copied(); !copied || !strings.Contains(why, "was restored: ") {
		t.Errorf("copied: %v, %q", copied, why)
	}
	state, err := migrations.Status(r.context(), r.url)
	if err != nil || state.Copied == "" {
		t.Errorf("status: %+v, %v", state, err)
	}
	if err := migrations.Up(r.context(), r.url, migrations.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "was restored: ") {
		t.Errorf("up: %v", err)
	}
	if err := migrations.Up(r.context(), r.url, migrations.Settings{Moved: true}); err != nil {
		t.Fatalf("up --moved: %v", err)
	}
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) ||
		refusal.Reason != lease.GateClosed {
		t.Errorf("acquire after somebody said what it is: %v, expected that the gate is closed", err)
	}
	r.pass(quarantine)
	r.acquire(s, "b")
}

// taken checks the number of workers that were ever acquired.
func (r *room) taken(want int) {
	r.t.Helper()
	if n := ask[int](r, "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0"); n != want {
		r.t.Errorf("%d workers were taken, expected %d", n, want)
	}
}

func enterBare(t testing.TB, url string) *room {
	return &room{t: t, url: url, conn: server.Connect(t, url)}
}

func TestTheFirstWindowIsCappedByTheNamespaces(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	request := r.request("a")
	request.Window = time.Hour.Milliseconds()
	a, err := r.store(r.url).Acquire(r.context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if length := a.Grant.Until - a.Grant.From; length != window.Milliseconds() {
		t.Errorf("granted %d ticks, expected max_window, %v", length, window)
	}
}

func TestTheRowTellsWhoHoldsTheWorker(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	a := r.acquire(r.store(r.url), "the node")
	row := ask[string](r, `SELECT concat_ws(' ', kind, owner, term, node, address, version, acquired_at IS NOT NULL,
		renewed_at IS NOT NULL, released_at)
		FROM pgflurry.worker WHERE worker = $1`, a.Worker)
	if want := "proxy " + a.Owner + " 1 the node 127.0.0.1:6532 test t t"; row != want {
		t.Errorf("row %q, expected %q", row, want)
	}
	if micros := r.now() * 1000; a.DatabaseMicros > micros+1000 || a.DatabaseMicros < micros-20_000_000 {
		t.Errorf("the answer tells %d µs, the database's clock is at %d", a.DatabaseMicros, micros)
	}
}

func TestAMarkNeverPassesTheEndOfTheTimestampBits(t *testing.T) {
	t.Parallel()
	r := newRoom(t, "41/0/2/12")
	s := r.store(r.url)
	const end = int64(1) << 41
	r.pass(time.Duration(end-r.now())*time.Millisecond - 30*time.Second)
	a := r.acquire(s, "a")
	if got := r.renew(s, renewal(a, 2*end)).Until; got != end {
		t.Errorf("mark %d after a renewal, expected the end, %d", got, end)
	}
	last := r.request("b")
	last.Window = 60_000
	if b, err := s.Acquire(r.context(), last); err != nil || b.Grant.Until != end {
		t.Errorf("granted %+v, error %v; expected a grant up to the end, %d", b.Grant, err, end)
	}
	r.pass(time.Minute)
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, new(*lease.Refusal)) {
		t.Errorf("after the end: %v", err)
	}
}

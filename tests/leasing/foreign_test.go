package leasing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgflurry/lease"
	"pgflurry/migrations"
	"pgflurry/namespace"
	"pgflurry/tests/support/server"
)

// others returns the settings of --foreign-workers.
func others(t testing.TB, text string) migrations.Settings {
	t.Helper()
	workers, err := namespace.ParseRanges(text)
	if err != nil {
		t.Fatal(err)
	}
	return migrations.Settings{Foreign: &workers}
}

// yield runs "migrate up --foreign-workers".
func (r *room) yield(text string) error {
	return migrations.Up(r.context(), r.url, others(r.t, text))
}

// comeBack is yield with --after-id.
func (r *room) comeBack(text string, afterID int64) error {
	s := others(r.t, text)
	s.AfterID = &afterID
	return migrations.Up(r.context(), r.url, s)
}

// kinds returns the first letter of each worker's kind.
func (r *room) kinds() string {
	r.t.Helper()
	return ask[string](r, "SELECT string_agg(left(kind, 1), '' ORDER BY worker) FROM pgflurry.worker")
}

// expectKinds compares the kinds, and what the namespace row says.
func (r *room) expectKinds(want string) {
	r.t.Helper()
	row, err := namespace.Read(r.context(), r.conn)
	if err != nil {
		r.t.Fatal(err)
	}
	said := ""
	for worker := range row.Workers().Size() {
		switch {
		case row.Foreign.Has(worker):
			said += "f"
		case row.Functions.Has(worker):
			said += "d"
		case row.Proxies().Has(worker):
			said += "p"
		}
	}
	if got := r.kinds(); got != want || said != want {
		r.t.Errorf("the workers are %s, and by the namespace row %s; expected %s", got, said, want)
	}
}

func TestNeitherAProxyNorAFunctionGetsAForeignWorker(t *testing.T) {
	t.Parallel()
	settings := others(t, "0-1,3,6")
	settings.Layout, settings.DatabaseWorkers = small, 2
	r := enter(t, server.MigratedWith(t, settings))
	r.expectKinds("ffdfdpfp")
	joined := server.Database(t)
	server.Migrate(t, joined, migrations.Settings{JoinURL: r.url})
	server.Says(t, migrations.Up(r.context(), server.Database(t), migrations.Settings{JoinURL: r.url}),
		"all 2 workers for database functions")
	const worker = "SELECT snowflake_worker(next_snowflake())"
	if got := ask[int](r, worker); got != 2 {
		t.Errorf("the function has worker %d", got)
	}
	if got := server.Value[int](t, server.Connect(t, joined), worker); got != 4 {
		t.Errorf("the function of the joined database has worker %d", got)
	}
	s := r.store(r.url)
	got := []int{r.acquire(s, "a").Worker, r.acquire(s, "b").Worker}
	if slices.Sort(got); !slices.Equal(got, []int{5, 7}) {
		t.Errorf("proxies got workers %d", got)
	}
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("c")); !errors.As(err, &refusal) || refusal.Workers != 2 {
		t.Errorf("a third proxy: %v", err)
	}
	list, err := lease.List(r.context(), r.conn, false)
	if err != nil {
		t.Fatal(err)
	}
	states := ""
	for _, row := range list.Rows {
		states += fmt.Sprint(" ", row.Worker, row.State)
	}
	if want := " 0foreign 1foreign 2function 3foreign 4function 5held 6foreign 7held"; states != want {
		t.Errorf("the list has%s", states)
	}
	var retired *lease.RetireError
	_, err = s.Retire(r.context(), 6, true)
	if !errors.As(err, &retired) || !strings.Contains(err.Error(), "foreign") {
		t.Errorf("retiring a foreign worker: %v", err)
	}
}

func TestAWorkerBecomesForeignOnlyWhenNobodyUsesIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	s := r.store(r.url)
	held := r.acquire(s, "app-1")
	one := fmt.Sprint(held.Worker)
	before := r.kinds()
	server.Says(t, r.yield("0"), "worker 0 is in the function of database "+server.Name(t, r.url))
	server.Says(t, r.yield(one), "worker "+one+" (app-1) is free in 2m")
	r.release(s, held.Lease)
	server.Says(t, r.yield(one), "worker "+one+" (app-1) is free in ")
	server.Says(t, r.yield("1-7"), "worker "+one)
	r.do("BEGIN; LOCK TABLE pgflurry.worker IN ROW EXCLUSIVE MODE")
	server.Says(t, r.yield("7"), "another transaction holds pgflurry.worker")
	r.do("COMMIT")
	r.expectKinds(before)
	r.pass(window)
	var said []string
	settings := others(t, one)
	settings.Say = func(sentence string) { said = append(said, sentence) }
	if err := migrations.Up(r.context(), r.url, settings); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(said, "\n"), "pgflurry gave: "+one+".") {
		t.Errorf("of the IDs that exist it said %q", said)
	}
	after := []byte(before)
	after[held.Worker] = 'f'
	r.expectKinds(string(after))
	if _, err := s.Renew(r.context(), renewal(held, never)); err == nil {
		t.Error("the former holder has renewed a foreign worker")
	}
	server.Says(t, r.yield("1-7"), "leaves no worker for a proxy")
	server.Says(t, r.yield("5-8"), "workers 8", "has workers 0 to 7")
}

func TestWorkersThatWaitForADatabaseAreReplacedWhenTheyBecomeForeign(t *testing.T) {
	t.Parallel()
	r := enter(t, server.MigratedWith(t, migrations.Settings{Layout: small, DatabaseWorkers: 3}))
	r.expectKinds("dddppppp")
	r.do("UPDATE pgflurry.namespace SET joins_complete_on = NULL")
	server.Says(t, r.yield("1,3"), "may have forgotten a database that has one of the workers 1", "--joins-complete")
	settings := others(t, "1,3")
	settings.JoinsComplete = true
	if err := migrations.Up(r.context(), r.url, settings); err != nil {
		t.Fatal(err)
	}
	r.expectKinds("dfdfdppp")
	for _, worker := range []int{2, 4} {
		url := server.Database(t)
		server.Migrate(t, url, migrations.Settings{JoinURL: r.url})
		conn := server.Connect(t, url)
		if got := server.Value[int](t, conn, "SELECT snowflake_worker(next_snowflake())"); got != worker {
			t.Errorf("a database that joins has worker %d, expected %d", got, worker)
		}
	}
	server.Says(t, r.yield("1,3-4"), "worker 4 is in the function of database")
	if err := r.yield("1,3"); err != nil { // said again
		t.Fatal(err)
	}
	r.expectKinds("dfdfdppp")
	one := enter(t, server.MigratedWith(t, migrations.Settings{Layout: "41/0/2/12", DatabaseWorkers: 3}))
	server.Says(t, one.yield("1,3"), "leaves 2 workers for the functions", "needs 3")
}

func TestAForeignWorkerComesBackAboveTheHighestIDOfItsGenerator(t *testing.T) {
	t.Parallel()
	settings := others(t, "1-6")
	settings.Layout, settings.DatabaseWorkers = small, 1
	r := enter(t, server.MigratedWith(t, settings))
	s := r.store(r.url)
	r.acquire(s, "a") // the only other one
	ahead := r.now() + 30_000
	server.Says(t, r.yield("none"), "workers 1 to 6 are foreign", "--after-id")
	server.Says(t, r.comeBack("none", (r.now()+48*3600*1000)<<15), "for more than a day")
	if err := r.comeBack("1-5", ahead<<15|6<<12|5); err != nil {
		t.Fatal(err)
	}
	r.expectKinds("dfffffpp")
	var refusal *lease.Refusal
	if _, err := s.Acquire(r.context(), r.request("b")); !errors.As(err, &refusal) {
		t.Errorf("an acquisition before the generator's last ID: %v", err)
	}
	r.pass(31 * time.Second)
	if b := r.acquire(s, "b"); b.Worker != 6 || b.Grant.From <= ahead {
		t.Errorf("granted %+v; expected worker 6 after tick %d", b.Grant, ahead)
	}
}

// A failover or a restart may have forgotten a lease of the very worker.
func TestNoWorkerBecomesForeignWhileTheGateIsClosed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, small)
	r.do("UPDATE pgflurry.namespace SET timeline = '0000000A'")
	server.Says(t, r.yield("5"), "a proxy may hold a worker that the rows do not show")
	if left := r.gate() - r.now(); left < 100_000 {
		t.Errorf("the gate is closed for %d ms", left)
	}
	r.pass(quarantine)
	if err := r.yield("5"); err != nil {
		t.Fatal(err)
	}
	r.do("UPDATE pgflurry.namespace SET born = NULL, restart_quarantine = '366 days'")
	server.Says(t, r.yield("5-6"), "the server has started")
	r.expectKinds("dppppfpp")
}

func TestAKindFollowsTheNamespaceRowAndNobodyWritesAnotherByHand(t *testing.T) {
	t.Parallel()
	settings := others(t, "5")
	settings.Layout, settings.DatabaseWorkers = small, 1
	r := enter(t, server.MigratedWith(t, settings))
	_, keeper := r.keeperRole("writes_kinds")
	for _, statement := range []string{
		"UPDATE pgflurry.worker SET kind = 'proxy' WHERE worker = 5",
		"UPDATE pgflurry.worker SET kind = 'proxy' WHERE worker = 0",
		"UPDATE pgflurry.worker SET kind = 'foreign' WHERE worker = 3",
	} {
		server.Refused(t, r.conn, "23001", statement)
	}
	server.Refused(t, keeper, "42501", "UPDATE pgflurry.worker SET node = 'x' WHERE worker = 5")
	server.Refused(t, keeper, "42501", "UPDATE pgflurry.namespace SET foreign_workers = '{}'")
	server.Refused(t, r.conn, "23514", "UPDATE pgflurry.namespace SET foreign_workers = '{[0,1)}'")
}

// What its home has said of the workers holds in a joined database, too, when that becomes an ID space of its own.
func TestAJoinedDatabaseKnowsTheForeignWorkersOfItsHome(t *testing.T) {
	t.Parallel()
	r := enter(t, server.MigratedWith(t, migrations.Settings{Layout: small, DatabaseWorkers: 2}))
	if err := r.yield("1,3"); err != nil {
		t.Fatal(err)
	}
	url := server.Database(t)
	server.Migrate(t, url, migrations.Settings{JoinURL: r.url}) // it gets worker 2
	server.Says(t, migrations.Up(r.context(), url, others(t, "3")), "is at home in")
	if err := r.yield("1,3,5"); err != nil {
		t.Fatal(err)
	}
	server.Migrate(t, url, migrations.Settings{JoinURL: r.url})
	copied := server.TemplateCopy(t, url, server.Name(t, url)+"_alone")
	server.Migrate(t, copied, migrations.Settings{NewNamespace: true})
	alone := enter(t, copied)
	alone.expectKinds("dfdfpfpp")
	if worker := ask[int](alone, "SELECT snowflake_worker(next_snowflake())"); worker != 2 {
		t.Errorf("the function of the copy has worker %d", worker)
	}
}

func TestARegionHasForeignWorkersOfItsOwn(t *testing.T) {
	t.Parallel()
	region := 3
	settings := others(t, "96-97,99")
	settings.Layout, settings.Region, settings.DatabaseWorkers = "datacenter", &region, 2
	r := enter(t, server.MigratedWith(t, settings))
	if worker := ask[int](r, "SELECT snowflake_worker(next_snowflake())"); worker != 98 {
		t.Errorf("the function has worker %d", worker)
	}
	if got := r.kinds(); got != "ffdfd"+strings.Repeat("p", 27) {
		t.Errorf("the workers are %s", got)
	}
	server.Says(t, r.yield("5"), "workers 5", "has workers 96 to 127", "A region")
}

// A tool may run what "migrate print" wrote, again and again.
func TestAPrintMakesForeignWorkersAndChangesThemNever(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	r := &room{t: t, url: url, conn: server.Connect(t, url)}
	printed := func(list string) string {
		var out strings.Builder
		s := others(t, list)
		s.Layout, s.DatabaseWorkers = small, 2
		if err := migrations.Print(&out, s); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for range 2 {
		r.do(printed("0,2"))
		r.expectKinds("fdfdpppp")
	}
	server.Says(t, server.Refused(t, r.conn, "23001", printed("0,2,5")), "foreign workers", "migrate up")
	r.do(printed("none")) // as without the flag
	r.expectKinds("fdfdpppp")
}

// A standby that is promoted without it would grant the worker.
func TestUpSaysWhichStandbyDoesNotKnowYetThatAWorkerIsForeign(t *testing.T) {
	t.Parallel()
	_, r := ownServer(t, small)
	r.do("SELECT pg_create_physical_replication_slot('away', true)")
	for range 2 {
		server.Says(t, r.yield("5"), "workers 5 are foreign here", "slot away", "could give IDs twice")
	}
	r.expectKinds("dppppfpp")
	r.do("SELECT pg_drop_replication_slot('away')")
	if err := r.yield("5"); err != nil {
		t.Error(err)
	}
}

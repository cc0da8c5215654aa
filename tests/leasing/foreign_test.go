package leasing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
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

func TestWhomAWorkerIsForIsFixedWhenTheIDSpaceIsMade(t *testing.T) {
	t.Parallel()
	settings := others(t, "5")
	settings.Layout, settings.DatabaseWorkers = small, 2
	r := enter(t, server.MigratedWith(t, settings))
	if err := migrations.Up(r.context(), r.url, settings); err != nil {
		t.Error(err) // said again
	}
	fewer := settings
	fewer.DatabaseWorkers = 1
	for said, change := range map[string]migrations.Settings{
		"are 5, not 5 to 6": others(t, "5-6"), "are 5, not none": others(t, "none"), "keeps 2 workers": fewer,
	} {
		server.Says(t, migrations.Up(r.context(), r.url, change), said)
	}
	r.expectKinds("ddpppfpp")
	joined := server.Database(t)
	server.Migrate(t, joined, migrations.Settings{JoinURL: r.url})
	for _, conn := range []*pgx.Conn{r.conn, server.Connect(t, joined)} {
		for _, column := range []string{"foreign_workers = '{}'", "function_workers = '{[0,3)}'"} {
			server.Refused(t, conn, "23001", "UPDATE pgflurry.namespace SET "+column)
		}
	}
	beyond := others(t, "8")
	beyond.Layout = small
	server.Says(t, migrations.Up(r.context(), server.Database(t), beyond), "has workers 8", "workers 0 to 7")
}

func TestNobodyWritesAnotherKindByHand(t *testing.T) {
	t.Parallel()
	settings := others(t, "5")
	settings.Layout, settings.DatabaseWorkers = small, 1
	r := enter(t, server.MigratedWith(t, settings))
	_, keeper := r.keeperRole("writes_kinds")
	for _, statement := range []string{
		"UPDATE pgflurry.worker SET kind = 'proxy' WHERE worker = 5",
		"UPDATE pgflurry.worker SET kind = 'proxy' WHERE worker = 0",
		"UPDATE pgflurry.worker SET kind = 'foreign' WHERE worker = 3",
		"UPDATE pgflurry.namespace SET foreign_workers = '{[0,1)}'",
	} {
		server.Refused(t, r.conn, "23001", statement)
	}
	server.Refused(t, keeper, "42501", "UPDATE pgflurry.worker SET node = 'x' WHERE worker = 5")
	server.Refused(t, keeper, "42501", "UPDATE pgflurry.namespace SET foreign_workers = '{}'")
}

// A joined database has the shares of its home, also when it becomes an ID space of its own.
func TestACopyOfAJoinedDatabaseKeepsTheShares(t *testing.T) {
	t.Parallel()
	settings := others(t, "1,3,5")
	settings.Layout, settings.DatabaseWorkers = small, 3
	r := enter(t, server.MigratedWith(t, settings))
	url := server.Database(t)
	server.Migrate(t, url, migrations.Settings{JoinURL: r.url}) // it gets worker 2
	copied := server.TemplateCopy(t, url, server.Name(t, url)+"_alone")
	server.Migrate(t, copied, migrations.Settings{NewNamespace: true})
	alone := enter(t, copied)
	alone.expectKinds("dfdfdfpp")
	if worker := ask[int](alone, "SELECT snowflake_worker(next_snowflake())"); worker != 2 {
		t.Errorf("the function of the copy has worker %d", worker)
	}
	// A home that is made anew begins with the first worker for functions, so that is no joined database's.
	alone.pass(2 * time.Minute)
	next := server.Database(t)
	server.Migrate(t, next, migrations.Settings{JoinURL: copied})
	const worker = "SELECT snowflake_worker(next_snowflake())"
	if worker := server.Value[int](t, server.Connect(t, next), worker); worker != 4 {
		t.Errorf("a database that joins the copy has worker %d", worker)
	}
	server.Says(t, migrations.Up(r.context(), server.Database(t), migrations.Settings{JoinURL: copied}),
		"all 3 workers for database functions")
}

func TestAListOfForeignWorkersIsThatOfAllRegions(t *testing.T) {
	t.Parallel()
	region := 3
	settings := others(t, "5,96-97,99,128-160")
	settings.Layout, settings.Region, settings.DatabaseWorkers = "datacenter", &region, 2
	r := enter(t, server.MigratedWith(t, settings))
	if worker := ask[int](r, "SELECT snowflake_worker(next_snowflake())"); worker != 98 {
		t.Errorf("the function has worker %d", worker)
	}
	if got := r.kinds(); got != "ffdfd"+strings.Repeat("p", 27) {
		t.Errorf("the workers are %s", got)
	}
	row, err := namespace.Read(r.context(), r.conn)
	if err != nil {
		t.Fatal(err)
	}
	space, next, full := new(row.Fingerprint()), 5, 4
	server.Says(t, migrations.Up(r.context(), server.Database(t), migrations.Settings{Region: &full, Space: space}),
		"region 4 of layout 41/5/5/12, without the foreign workers", "has 0 workers")
	other := others(t, "none")
	other.Region, other.Space = &next, space
	server.Says(t, migrations.Up(r.context(), server.Database(t), other), "--foreign-workers", "fingerprint has them")
	url := server.Database(t)
	server.Migrate(t, url, migrations.Settings{Region: &next, Space: space})
	if got := enter(t, url).kinds(); got != "fdd"+strings.Repeat("p", 29) { // worker 160 is foreign
		t.Errorf("the workers of region 5 are %s", got)
	}
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
	server.Says(t, server.Refused(t, r.conn, "23001", printed("0,2,5")), "foreign workers", "were fixed when")
	r.do(printed("none")) // as without the flag
	r.expectKinds("fdfdpppp")
}

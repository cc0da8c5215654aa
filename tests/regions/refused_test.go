package regions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestARegionGetsTheWorkersOfItsNumberAndTheIDSpaceOfTheFingerprint(t *testing.T) {
	t.Parallel()
	first, space := founded(t, 3)
	second := further(t, space, 31)
	for _, c := range []struct {
		url           string
		lowest, least int
		rows          []string
	}{
		{first, 96, 104, []string{"database 96-103", "proxy 104-127"}},
		{second, 992, 1000, []string{"database 992-999", "proxy 1000-1023"}},
	} {
		conn := server.Connect(t, c.url)
		rows := server.Values[string](t, conn, `SELECT format('%s %s-%s', kind, min(worker), max(worker))
			FROM pgflurry.worker GROUP BY kind ORDER BY kind`)
		seen := seenAt(t, c.url)
		if seen.ID != space.ID || !seen.Layout.Equal(space.Layout) || seen.FunctionWorker != c.lowest ||
			seen.Workers().Lowest != c.lowest || seen.Proxies().Hull().Lowest != c.least ||
			!slices.Equal(rows, c.rows) {
			t.Errorf("the region is %+v with the rows %q; expected %q, workers from %d, of proxies from %d of %+v",
				seen, rows, c.rows, c.lowest, c.least, space)
		}
		ids := server.Values[int64](t, conn, "SELECT next_snowflakes(10)")
		for _, id := range ids {
			if parts, err := seen.Layout.Decode(id); err != nil || parts.Worker != c.lowest {
				t.Errorf("the function gives %d: %+v, %v", id, parts, err)
			}
		}
		before := server.Values[string](t, conn, "SELECT n::text FROM pgflurry.namespace n")
		for _, again := range []migrations.Settings{
			{}, {Region: seen.Region}, {Region: seen.Region, Space: space}, {Layout: "41/5/5/12"},
		} {
			up(t, c.url, again)
		}
		if after := server.Values[string](t, conn, "SELECT n::text FROM pgflurry.namespace n"); after[0] != before[0] {
			t.Errorf("an up that asks for what is there has changed the row from %s to %s", before, after)
		}
	}
}

// changed returns a fingerprint with one change, as of another ID space.
func changed(space *namespace.Fingerprint, change func(*namespace.Fingerprint)) *namespace.Fingerprint {
	other := *space
	change(&other)
	return &other
}

func TestWhatDoesNotFitIsRefusedWithTheValuesAndWhatToDo(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	plain := server.MigratedWith(t, migrations.Settings{Layout: "datacenter"})
	whole := new(seenAt(t, plain).Fingerprint())
	empty := server.Database(t)
	epoch := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	foreign := changed(space, func(f *namespace.Fingerprint) { f.ID = whole.ID })
	longer := changed(space, func(f *namespace.Fingerprint) { f.Layout.Unit = 2 * time.Millisecond })
	for name, c := range map[string]struct {
		url   string
		s     migrations.Settings
		texts []string // in the message and the hint
	}{
		"a fingerprint alone": {empty, migrations.Settings{Space: space}, []string{"--region does not say which"}},
		"a region without bits for it": {
			empty,
			migrations.Settings{Region: number(3)},
			[]string{"--region is 3", "41/0/10/12 has no datacenter bits", "Add --layout datacenter"},
		},
		"a region out of range": {
			empty,
			migrations.Settings{Region: number(32), Space: space},
			[]string{"--region is 32", "has regions 0 to 31", "Choose one"},
		},
		"other bits than the fingerprint's": {
			empty,
			migrations.Settings{Region: number(4), Space: space, Layout: "41/4/6/12"},
			[]string{"has layout 41/5/5/12", "not 41/4/6/12", "Leave --layout, --epoch and --unit out"},
		},
		"another epoch than the fingerprint's": {
			empty,
			migrations.Settings{Region: number(4), Space: space, Epoch: epoch},
			[]string{"not 41/5/5/12, epoch 2025"},
		},
		"another unit than the fingerprint's": {
			empty,
			migrations.Settings{Region: number(4), Space: space, Unit: time.Second},
			[]string{"unit 1s", "unit 1ms"},
		},
		"a space without regions": {
			empty,
			migrations.Settings{Region: number(4), Space: whole},
			[]string{whole.ID, "has no regions", "region 4", "--layout datacenter"},
		},
		"a new space of an old fingerprint": {
			empty,
			migrations.Settings{Region: number(4), Space: space, NewNamespace: true},
			[]string{"Choose one"},
		},
		"a disposable region of a space": {
			empty,
			migrations.Settings{Region: number(4), Space: space, Disposable: true},
			[]string{"Choose one"},
		},
		"too many workers for functions": {
			empty,
			migrations.Settings{Region: number(4), Layout: "datacenter", DatabaseWorkers: 32},
			[]string{"32 database workers", "region 4 of layout 41/5/5/12 has 32 workers"},
		},
		"another share for functions than the fingerprint's": {
			empty,
			migrations.Settings{Region: number(4), Space: space, DatabaseWorkers: 7},
			[]string{"keeps 8 workers for database functions", "Leave --database-workers"},
		},
		"another number for a region": {
			home,
			migrations.Settings{Region: number(4), Space: space},
			[]string{"is region 3", "not region 4", "Leave --region"},
		},
		"another space for a region": {
			home, migrations.Settings{Region: number(3), Space: foreign}, []string{space.ID, "not to " + whole.ID},
		},
		"another layout for a region": {
			home,
			migrations.Settings{Region: number(3), Space: longer},
			[]string{"unit 1 ms, not 41/5/5/12", "unit 2 ms"},
		},
		"a region for a space without": {
			plain,
			migrations.Settings{Region: number(3)},
			[]string{"has no regions, and cannot be divided", "workers 0 to 1023", "region 3", "in another database"},
		},
		"a home of another region": {
			empty,
			migrations.Settings{Region: number(4), JoinURL: home},
			[]string{"--home", "is region 3", "not region 4"},
		},
		"a home without regions": {
			empty, migrations.Settings{Region: number(4), JoinURL: plain}, []string{"--home", "has no regions"},
		},
		"a home of another space": {
			empty,
			migrations.Settings{Region: number(3), Space: foreign, JoinURL: home},
			[]string{"--home", "not to " + whole.ID},
		},
	} {
		err := migrations.Up(server.Within(t), c.url, c.s)
		if err == nil {
			t.Errorf("%s: it is taken", name)
			continue
		}
		for _, text := range c.texts {
			if said := err.Error() + "\n" + server.Hint(err); !strings.Contains(said, text) {
				t.Errorf("%s: no %q in:\n%s", name, text, said)
			}
		}
		if fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: the exit code is %d, expected 2", name, fault.KindOf(err))
		}
	}
	if server.Value[bool](t, server.Connect(t, empty), "SELECT to_regnamespace('pgflurry') IS NOT NULL") {
		t.Error("a database that was refused has a schema")
	}
}

func TestTheTableItselfRefusesWhatDoesNotFitARegion(t *testing.T) {
	t.Parallel()
	url, _ := founded(t, 3)
	conn := server.Connect(t, url)
	server.Refused(t, conn, "23001", "UPDATE pgflurry.namespace SET region = 4")
	server.Refused(t, conn, "23001", "UPDATE pgflurry.namespace SET region = NULL")
	server.Refused(t, conn, "23514", "UPDATE pgflurry.namespace SET function_worker = 95")
	server.Refused(t, conn, "23514", "UPDATE pgflurry.namespace SET function_worker = 104")
	server.Refused(t, conn, "23514", "INSERT INTO pgflurry.worker (worker, kind) VALUES (128, 'proxy')")
	plain := server.Connect(t, server.MigratedWith(t, migrations.Settings{Layout: "datacenter"}))
	server.Refused(t, plain, "23001", "UPDATE pgflurry.namespace SET region = 0")
}

func TestADatabaseThatJoinsARegionHasItsNumberAndAWorkerOfIt(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	for i, settings := range []migrations.Settings{
		{JoinURL: home}, {JoinURL: home, Region: number(3)}, {JoinURL: home, Region: number(3), Space: space},
	} {
		url := server.Database(t)
		up(t, url, settings)
		up(t, url, settings) // it compares the settings
		seen := seenAt(t, url)
		worker := 97 + 2*i
		if seen.Region == nil || *seen.Region != 3 || seen.FunctionWorker != worker || seen.Home == "" {
			t.Errorf("it has become %+v; expected worker %d of region 3", seen, worker)
		}
		id := server.Value[int64](t, server.Connect(t, url), "SELECT next_snowflake()")
		if parts, err := seen.Layout.Decode(id); err != nil || parts.Worker != worker {
			t.Errorf("its function gives %d: %+v, %v", id, parts, err)
		}
		up(t, url, migrations.Settings{JoinURL: home, FreshWorker: true})
		if fresh := seenAt(t, url).FunctionWorker; fresh != worker+1 {
			t.Errorf("its fresh worker is %d; expected %d", fresh, worker+1)
		}
	}
}

func TestTheSmallestRegionHasAFunctionAndAProxy(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, migrations.Settings{Layout: "41/9/1/12", Region: number(511)})
	seen := seenAt(t, url)
	if seen.Functions.String() != "1022" || seen.Proxies().String() != "1023" {
		t.Errorf("%v for functions, %v for proxies", seen.Functions, seen.Proxies())
	}
	server.Do(t, server.Connect(t, url), "SELECT next_snowflake()")
}

package regions

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// filled gives a database a table of IDs, and returns them.
func filled(t testing.TB, url string) (ids []int64) {
	t.Helper()
	conn := server.Connect(t, url)
	server.Do(t, conn, `CREATE TABLE IF NOT EXISTS item (id bigint DEFAULT next_snowflake() PRIMARY KEY)`)
	ids = server.Values[int64](t, conn, "INSERT INTO item SELECT FROM generate_series(1, 5000) RETURNING id")
	conn.Close(server.Within(t))
	return ids
}

// tool runs a program of PostgreSQL.
func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(server.Within(t), server.Tool(t, name), args...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func TestADumpOfARegionBeginsAnotherRegionOrTakesItsPlaceButNeverBoth(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	ids := recorder.New("", 0)
	if err := ids.Add(filled(t, home)...); err != nil {
		t.Fatal(err)
	}
	dump, restored := filepath.Join(t.TempDir(), "dump"), server.Database(t)
	tool(t, "pg_dump", "--format=custom", "--file", dump, home)
	tool(t, "pg_restore", "--dbname", restored, dump)
	server.Refused(t, server.Connect(t, restored), "SNF03", "SELECT next_snowflake()")
	server.Says(t, migrations.Up(server.Within(t), restored, migrations.Settings{}),
		"is a copy", "--region NUMBER --namespace "+space.String())
	server.Says(t, migrations.Up(server.Within(t), restored, migrations.Settings{Region: number(4)}),
		"is region 3", "--namespace FINGERPRINT")
	for _, same := range []migrations.Settings{
		{Region: number(3), Space: space},
		{Region: number(4), Space: space, JoinURL: home},
		{Region: number(4), Space: space, Moved: true},
	} {
		if err := migrations.Up(server.Within(t), restored, same); err == nil {
			t.Errorf("%+v is taken", same)
		}
	}
	up(t, restored, migrations.Settings{Region: number(4), Space: space})
	for range 10 { // the primary key compares, too: the table has the restored rows
		for _, url := range []string{restored, home} {
			if err := ids.Add(filled(t, url)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c := check(t, home, restored); !c.MayCoexist {
		t.Errorf("they collide: %+v", c)
	}
	conn := server.Connect(t, restored)
	if workers := server.Value[string](t, conn,
		"SELECT format('%s-%s', min(worker), max(worker)) FROM pgflurry.worker"); workers != "128-159" {
		t.Errorf("it has the workers %s, expected 128-159", workers)
	}
	server.Refused(t, conn, "23001", "DELETE FROM pgflurry.worker") // the guards are in place again
	server.Refused(t, conn, "23001", "TRUNCATE pgflurry.namespace")
	if enabled := server.Values[string](t, conn, guards); len(enabled) != 1 || enabled[0] !=
		server.Values[string](t, server.Connect(t, home), guards)[0] {
		t.Errorf("its triggers are %s, unlike those of another region", enabled)
	}
	up(t, restored, migrations.Settings{Region: number(4), Space: space})
}

// guards lists each trigger and when it fires.
const guards = `SELECT string_agg(tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text, ', ' ORDER BY tgname)
	FROM pg_trigger WHERE tgrelid IN ('pgflurry.namespace'::regclass, 'pgflurry.worker'::regclass)`

func TestACopyOfTheFilesOfARegionBeginsAnotherOneWhenItIsSaidToBeACopy(t *testing.T) {
	t.Parallel()
	primary := server.Private(t, nil)
	server.Exec(t, primary.URL("postgres"), "CREATE DATABASE shop")
	up(t, primary.URL("shop"), migrations.Settings{Layout: "datacenter", Region: number(3)})
	clone := server.Clone(t, primary, "clone")
	space := new(seenAt(t, primary.URL("shop")).Fingerprint())
	server.Says(t, migrations.Up(server.Within(t), clone.URL("shop"),
		migrations.Settings{Region: number(4), Space: space}), "is region 3", "not region 4")
	up(t, clone.URL("shop"), migrations.Settings{Region: number(4), Space: space, Copy: true})
	ids := recorder.New("", 0)
	for range 10 {
		for _, url := range []string{primary.URL("shop"), clone.URL("shop")} {
			if err := ids.Add(filled(t, url)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c := check(t, primary.URL("shop"), clone.URL("shop")); !c.MayCoexist {
		t.Errorf("they collide: %+v", c)
	}
}

func TestARegionThatWasLostIsMadeAnewAsCarefullyAsAfterAFailoverThatForgets(t *testing.T) {
	t.Parallel()
	lost, space := founded(t, 3)
	joined := server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: lost})
	anew, other := server.Database(t), server.Database(t)
	again := migrations.Settings{Region: number(3), Space: space, Moved: true}
	server.Says(t, migrations.Up(server.Within(t), anew, migrations.Settings{Moved: true}), "has no namespace yet")
	server.Says(t, migrations.Up(server.Within(t), anew,
		migrations.Settings{Region: number(3), Space: space, Moved: true, JoinURL: lost}), "has no namespace yet")
	ids := recorder.New("", 0)
	conn := server.Connect(t, lost)
	before := server.Values[int64](t, conn, "SELECT next_snowflakes(10000)")
	conn.Close(server.Within(t))
	server.Alone(t, lost)
	server.Exec(t, server.In(t, lost, "postgres"), "DROP DATABASE "+server.Name(t, lost))
	up(t, anew, again)
	conn = server.Connect(t, anew)
	begun := server.Value[time.Time](t, conn, "SELECT clock_timestamp()")
	after := server.Values[int64](t, conn, "SELECT next_snowflakes(10000)")
	if err := ids.Add(append(before, after...)...); err != nil || after[0] <= before[len(before)-1] {
		t.Errorf("ID %d follows %d: %v", after[0], before[len(before)-1], err)
	}
	// The lost function may have been a second ahead of its clock. That clock may have been ahead by the skew, two
	// seconds.
	if parts, err := space.Layout.Decode(after[0]); err != nil || parts.Time.Sub(begun) < 3*time.Second {
		t.Errorf("the first ID is only %v ahead of the clock, %v", parts.Time.Sub(begun), err)
	}
	state, err := migrations.Status(server.Within(t), anew)
	if err != nil || state.GateOpens < time.Minute || !state.JoinsClosed {
		t.Errorf("the gate opens in %v, joins are closed: %v, %v", state.GateOpens, state.JoinsClosed, err)
	}
	server.Says(t, migrations.Up(server.Within(t), other, migrations.Settings{JoinURL: anew}),
		"may have forgotten a database that joined")
	up(t, joined, migrations.Settings{JoinURL: anew})
	up(t, anew, migrations.Settings{JoinsComplete: true})
	up(t, other, migrations.Settings{JoinURL: anew})
	if a, b := seenAt(t, joined).FunctionWorker, seenAt(t, other).FunctionWorker; a != 97 || b != 98 {
		t.Errorf("the one that had joined has worker %d, the next one %d; expected 97 and 98", a, b)
	}
	if c := check(t, anew, joined, other); !c.MayCoexist {
		t.Errorf("they collide: %+v", c)
	}
}

func TestACopyOfADatabaseThatJoinedARegionBeginsAnotherAsAHome(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	joined := server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: home})
	copied := server.TemplateCopy(t, joined, "regions_joined_begins")
	up(t, copied, migrations.Settings{Region: number(5), Space: space})
	seen := seenAt(t, copied)
	if seen.Home != "" || *seen.Region != 5 || seen.FunctionWorker != 160 || seen.ID != space.ID {
		t.Errorf("it has become %+v", seen)
	}
	if c := check(t, home, joined, copied); !c.MayCoexist {
		t.Errorf("they collide: %+v", c)
	}
	further := server.Database(t)
	up(t, further, migrations.Settings{JoinURL: copied})
	if worker := seenAt(t, further).FunctionWorker; worker != 161 {
		t.Errorf("what joins it gets worker %d, expected 161", worker)
	}
}

// A replica of a database has its claim. So a copy that has become another ID space needs a claim of its own.
func TestTheReplicaOfACopyThatIsAnIDSpaceOfItsOwnIsNoReplicaOfTheOriginal(t *testing.T) {
	t.Parallel()
	original := server.Private(t, nil)
	up(t, original.URL("postgres"), migrations.Settings{})
	copied := server.Clone(t, original, "copied")
	server.Exec(t, copied.URL("postgres"), "CALL pgflurry.new_namespace(true)")
	replica := server.Standby(t, copied, "replica", "", nil)
	c := check(t, original.URL("postgres"), replica.URL("postgres"))
	if len(c.Notes) > 0 || len(c.Collisions) != 1 || !strings.Contains(c.Collisions[0].Why, "two ID spaces") {
		t.Errorf("check says of the original and of the copy's replica: %+v", c)
	}
	if c := check(t, copied.URL("postgres"), replica.URL("postgres")); !c.MayCoexist || len(c.Notes) != 1 {
		t.Errorf("check says of the copy and of its replica: %+v", c)
	}
}

func TestACopyOfARegionKeepsItWhateverElseItBecomes(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	joined := server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: home})
	for name, c := range map[string]struct {
		original string
		become   migrations.Settings
		id       string
	}{
		"joins":                      {home, migrations.Settings{JoinURL: home}, space.ID},
		"a space of its own":         {home, migrations.Settings{NewNamespace: true}, ""},
		"a space of one that joined": {joined, migrations.Settings{NewNamespace: true}, ""},
	} {
		copied := server.TemplateCopy(t, c.original, "regions_becomes_"+string(name[len(name)-1]))
		up(t, copied, c.become)
		seen := seenAt(t, copied)
		if seen.Region == nil || *seen.Region != 3 || !seen.Workers().Has(seen.FunctionWorker) ||
			c.id != "" && seen.ID != c.id || c.id == "" && seen.ID == space.ID {
			t.Errorf("%s: it has become %+v", name, seen)
		}
		conn := server.Connect(t, copied)
		if rows := server.Value[int](t, conn, "SELECT count(*)::int FROM pgflurry.worker"); rows != 0 && rows != 32 {
			t.Errorf("%s: it has %d workers", name, rows)
		}
		server.Do(t, conn, "SELECT next_snowflake()")
		server.Refused(t, conn, "23514", "INSERT INTO pgflurry.worker (worker, kind) VALUES (1, 'proxy')")
	}
}

func TestASchemaWithoutItsRowsForgetsTheRegionItCameFrom(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	dump := filepath.Join(t.TempDir(), "schema")
	tool(t, "pg_dump", "--schema-only", "--format=custom", "--file", dump, home)
	for region, settings := range map[int]migrations.Settings{
		-1: {},
		4:  {Region: number(4), Space: space},
	} {
		url := server.Database(t)
		tool(t, "pg_restore", "--dbname", url, dump)
		up(t, url, settings)
		seen := seenAt(t, url)
		if region < 0 && (seen.Region != nil || seen.Workers().Size() != 1024) ||
			region >= 0 && *seen.Region != region {
			t.Errorf("asked for %+v it has become %+v", settings, seen)
		}
		server.Do(t, server.Connect(t, url), "SELECT next_snowflake()")
	}
}

func TestRegionsThatReplicateTheirRowsKeepTheirWorkers(t *testing.T) {
	t.Parallel()
	here := server.Private(t, map[string]string{"wal_level": "logical"})
	server.Exec(t, here.URL("postgres"), "CREATE DATABASE west")
	server.Exec(t, here.URL("postgres"), "CREATE DATABASE east")
	east, west := here.URL("east"), here.URL("west")
	up(t, east, migrations.Settings{Layout: "datacenter", Region: number(3)})
	up(t, west, migrations.Settings{Region: number(4), Space: new(seenAt(t, east).Fingerprint())})
	const table = "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY)"
	server.Exec(t, east, table)
	server.Exec(t, west, table)
	// somebody will publish everything, schema pgflurry included
	server.Exec(t, east, "CREATE PUBLICATION everything FOR ALL TABLES")
	server.Exec(t, east, "SELECT pg_create_logical_replication_slot('west', 'pgoutput')")
	server.Exec(t, west, "CREATE SUBSCRIPTION of_east CONNECTION '"+east+"' PUBLICATION everything "+
		"WITH (copy_data = false, create_slot = false, slot_name = 'west')")
	server.Exec(t, east, "UPDATE pgflurry.namespace SET acquire_after = 5, timeline = '000000AA'")
	server.Exec(t, east, "UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 1 WHERE worker = 120")
	server.Exec(t, east, "INSERT INTO item SELECT FROM generate_series(1, 5000)")
	conn := server.Connect(t, west)
	before := server.Value[string](t, conn, "SELECT n::text FROM pgflurry.namespace n")
	server.Do(t, conn, "INSERT INTO item SELECT FROM generate_series(1, 5000)")
	server.Eventually(t, conn, "(SELECT count(*) FROM item) = 10000")
	if after := server.Value[string](t, conn, "SELECT n::text FROM pgflurry.namespace n"); after != before {
		t.Errorf("the row of region 4 has become %s; it was %s", after, before)
	}
	if n := server.Value[int](t, conn, "SELECT count(DISTINCT snowflake_worker(id))::int FROM item"); n != 2 {
		t.Errorf("the rows have IDs of %d workers, expected 2", n)
	}
	if n := server.Value[int](t, conn, "SELECT count(*)::int FROM pgflurry.worker WHERE worker < 128"); n != 0 {
		t.Errorf("region 4 has got %d workers of region 3", n)
	}
	server.Exec(t, west, "ALTER SUBSCRIPTION of_east DISABLE; ALTER SUBSCRIPTION of_east SET (slot_name = NONE); "+
		"DROP SUBSCRIPTION of_east")
}

// With another share the workers of joined databases would be proxies'.
func TestALostRegionThatIsMadeAnewHasTheSharesOfItsFingerprintAndJoinedDatabasesKeepTheirWorkers(t *testing.T) {
	t.Parallel()
	settings := migrations.Settings{
		Layout: "datacenter", Region: number(3), DatabaseWorkers: 2,
		Foreign: &namespace.Ranges{{Lowest: 96, Highest: 97}},
	}
	lost := server.MigratedWith(t, settings)
	before := seenAt(t, lost)
	space := new(before.Fingerprint())
	joined := server.Database(t)
	up(t, joined, migrations.Settings{JoinURL: lost})
	worker := seenAt(t, joined).FunctionWorker
	server.Alone(t, lost)
	server.Exec(t, server.In(t, lost, "postgres"), "DROP DATABASE "+server.Name(t, lost))

	anew := server.Database(t)
	up(t, anew, migrations.Settings{Region: number(3), Space: space, Moved: true})
	up(t, joined, migrations.Settings{JoinURL: anew})
	seen, again := seenAt(t, anew), seenAt(t, joined)
	if seen.Functions.String() != before.Functions.String() || seen.Proxies().String() != before.Proxies().String() ||
		seen.FunctionWorker != 98 || worker != 99 || again.FunctionWorker != worker ||
		seen.Claims[worker] != again.Claim {
		t.Errorf("it was %v for functions, %v for proxies, and the joined database had %d;\nit is %v, %v, %d of %v",
			before.Functions, before.Proxies(), worker, seen.Functions, seen.Proxies(), again.FunctionWorker,
			seen.Claims)
	}
}

func TestAnotherRegionOnTheServerHasNotTakenThePlaceOfThisOne(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	lost := server.Database(t)
	up(t, lost, migrations.Settings{Region: number(4), Space: space, Moved: true})
	up(t, lost, migrations.Settings{Region: number(4), Space: space, Moved: true, MaxWindow: time.Hour}) // again
	up(t, home, migrations.Settings{Moved: true})
	if c := check(t, home, lost); !c.MayCoexist {
		t.Errorf("they collide: %+v", c)
	}
}

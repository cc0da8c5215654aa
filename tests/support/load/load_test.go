//go:build full

package load

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/meter"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// stand is a server that a test may stop, with a proxy in front of it. The link has the place of HAProxy.
func stand(t *testing.T) (*postgres.Cluster, *network.Link, Targets) {
	t.Helper()
	server.Binaries(t)
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	server.Migrate(t, direct, migrations.Settings{Layout: "41/0/10/12"})
	link, through := network.To(t, direct)
	proxy := program.Serve(t, through, "a proxy", "--id-database", "pgflurry", "--id-auth", "trust")
	ids := server.Parse(t, proxy.URL)
	ids.Path = "/pgflurry"
	_, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(driver)
	}
	if err != nil && os.Getenv("PGFLURRY_TEST_CLIENTS") != "" {
		t.Fatalf("there is no JDBC here, which PGFLURRY_TEST_CLIENTS asks for: %v", err)
	}
	return cluster, link, Targets{
		Direct: direct + "&target_session_attrs=read-write", HAProxy: through,
		Proxies: []string{proxy.URL}, AllProxies: proxy.URL, IDDatabases: []string{ids.String()}, JDBC: err == nil,
	}
}

// everybody waits until each kind of client has got new IDs.
func everybody(t *testing.T, l *Load) {
	t.Helper()
	for kind, n := range l.Report().ByClient {
		if strings.HasPrefix(kind, "rows ") {
			continue // not a client
		}
		for deadline := time.Now().Add(server.Patience); l.total(kind).Load() <= n; {
			if time.Now().After(deadline) {
				t.Errorf("no more IDs of %q", kind)
				break
			}
			server.Pause(t.Context(), time.Millisecond)
		}
	}
}

func TestAnOutageIsMeasuredAndEveryClientComesBack(t *testing.T) {
	cluster, _, targets := stand(t)
	l := Start(t, targets, Settings{})
	l.Mark("a crash")
	server.Crash(t, cluster)
	away := time.Now()
	drawnAway := l.total(idSession).Load()
	for l.total(idSession).Load() < drawnAway+10 { // the ID database gives IDs meanwhile
		server.Pause(t.Context(), time.Millisecond)
	}
	least := time.Since(away)
	server.Again(t, cluster.Data, cluster.Port)
	l.Settled()
	everybody(t, l)
	l.Stop()
	r := l.Report()
	t.Logf("\n%s", r.Markdown())
	line := r.Faults.Lines[len(r.Faults.Lines)-1]
	if line.Fault != "a crash" || line.Times != 1 {
		t.Fatalf("the last line is %+v", line)
	}
	for _, service := range []string{postgresql, haproxy, function, proxyNew} {
		if away := time.Duration(line.Without[service].Worst); away < least {
			t.Errorf("%s was away for %v, but the server for %v at least", service, away, least)
		}
	}
	if line.Without[idSession].Worst >= line.Without[postgresql].Worst {
		t.Errorf("the ID database was away for %v, PostgreSQL for %v",
			line.Without[idSession].Worst, line.Without[postgresql].Worst)
	}
	if line.Given[ofIDDatabases] < 10 {
		t.Errorf("the ID database gave %d IDs meanwhile, expected 10 at least", line.Given[ofIDDatabases])
	}
	if line.Lost+line.Twice+r.Commits.Lost != 0 || r.Commits.Acknowledged == 0 {
		t.Errorf("commits: %+v, in the fault %d lost, %d IDs twice", r.Commits, line.Lost, line.Twice)
	}
	if !slices.ContainsFunc(r.Faults.Seen, func(s meter.Seen) bool { return s.Client == postgresql }) {
		t.Error("no writer says that the server went")
	}
}

func TestAFailoverThatForgetsCommitsIsCountedAndEveryClientFindsTheNewPrimary(t *testing.T) {
	cluster, link, targets := stand(t)
	standby := server.Standby(t, cluster, "standby", "", nil) // it gets nothing from now on
	both := server.Parse(t, targets.Direct)
	address := fmt.Sprint("127.0.0.1:", standby.Port)
	targets.Owner, both.Host = both.String(), both.Host+","+address
	targets.Direct = both.String()
	l := Start(t, targets, Settings{})
	everybody(t, l)
	l.Mark("a failover")
	server.Crash(t, cluster)
	server.Promote(t, standby)
	conn := server.Connect(t, standby.URL("postgres"))
	server.Do(t, conn, table) // Start made it later than the standby
	l.targets.Owner = standby.URL("postgres")
	link.Lead(address)
	l.Settled()
	everybody(t, l)
	l.Stop()
	r := l.Report()
	t.Logf("\n%s", r.Markdown())
	if r.Commits.Lost == 0 || r.Faults.Lines[0].Lost != r.Commits.Lost {
		t.Errorf("%d commits are lost, %d of them in the fault; all before it are", r.Commits.Lost,
			r.Faults.Lines[0].Lost)
	}
	if r.Faults.Total.Twice > 0 {
		t.Errorf("%d IDs came twice", r.Faults.Total.Twice)
	}
}

func TestARowThatIsDeletedBehindTheBackOfTheWritersIsALostCommit(t *testing.T) {
	direct := server.Migrated(t)
	l := Start(t, Targets{Direct: direct}, Settings{})
	conn := server.Connect(t, direct)
	l.Mark("a deletion")
	deleted := server.Values[int64](t, conn,
		"DELETE FROM load_commit WHERE number IN (SELECT number FROM load_commit LIMIT 3) RETURNING number")
	l.Settled()
	if lost := l.Report().Commits.Lost; lost != len(deleted) || lost != 3 {
		t.Errorf("%d commits are lost; deleted were %v", lost, deleted)
	}
	server.Do(t, conn, "DELETE FROM load_commit WHERE number = (SELECT max(number) / 2 FROM load_commit)")
	l.Stop()
	r := l.Report()
	if r.Commits.Lost != 4 || r.Faults.Total.Lost != 4 || r.Faults.Lines[1].Lost != 3 {
		t.Errorf("%d commits are lost in the end, expected 4: %+v", r.Commits.Lost, r.Faults.Lines)
	}
}

func TestAFunctionThatRepeatsItselfIsNoticed(t *testing.T) {
	direct := server.Database(t)
	server.Exec(t, direct, `CREATE SEQUENCE repeats MAXVALUE 40 CYCLE;
		CREATE FUNCTION next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT nextval(''repeats'')'`)
	l := Start(t, Targets{Direct: direct}, Settings{CountTwice: true})
	conn, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	server.Eventually(t, conn, "(SELECT count(*) > 41 FROM load_commit)")
	l.Stop()
	if r := l.Report(); r.Faults.Total.Twice == 0 || r.IDs != 40 {
		t.Errorf("%d IDs, %d twice; expected 40, and many", r.IDs, r.Faults.Total.Twice)
	}
}

//go:build full

package operate

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// Each test causes a fault at a real proxy. promtool judges the proxy's metrics from before and after it.

func TestAlertReserveLowFiresWhenNoRenewalIsAcknowledged(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	lease, through := network.To(t, direct)
	o := operate(t, direct, "reserve", "--lease-database", through, "--databases", server.Name(t, direct))
	before := o.steady()
	lease.Silence()
	after := o.shows("a low reserve", func(of func(string) float64) bool { return of("lease_reserve_seconds") < 1 })
	judge(t, before, after, "PgflurryReserveLow", "PgflurryNotRenewed")

	conn := server.Connect(t, o.URL)
	o.shows("no reserve", func(of func(string) float64) bool { return of("lease_reserve_seconds") == 0 })
	server.Do(t, conn, "SELECT next_snowflake()")
	declined := o.scrape()
	if n := declined.samples[`pgflurry_declined_total{reason="grant_ended"}`]; n != 1 {
		t.Errorf("beyond the mark %v calls were declined for it, expected 1:\n%s", n, declined.ours())
	}
	judge(t, before, declined, "PgflurryDeclined", "PgflurryReserveLow", "PgflurryNotRenewed")
}

func TestAlertNotRenewedFiresLongBeforeALongWindowEnds(t *testing.T) {
	t.Parallel()
	direct := server.MigratedWith(t, migrations.Settings{MaxWindow: time.Hour})
	lease, through := network.To(t, direct)
	o := operate(t, direct, "long",
		"--window", "1h", "--lease-database", through, "--databases", server.Name(t, direct))
	o.shows("a window", func(of func(string) float64) bool { return of("lease_reserve_seconds") > 15 })
	before := o.steady()
	lease.Silence()
	after := o.shows("a renewal that failed", func(of func(string) float64) bool {
		return of(`lease_renewals_total{result="unknown"}`) > 0
	})
	after.samples["pgflurry_lease_reserve_seconds"] = 3500 // minutes later the window has grown
	judge(t, before, after, "PgflurryNotRenewed")
}

func TestAlertLeaseLostFiresWhenAWorkerIsTakenAway(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	o := operate(t, direct, "lost")
	before := o.steady()
	conn := server.Connect(t, direct)
	server.Do(t, conn, "UPDATE pgflurry.worker SET retired_at = now() WHERE node = 'lost'")
	after := o.shows("another worker", func(of func(string) float64) bool {
		return of(`lease_renewals_total{result="lost"}`) == 1 && of("lease_held") == 1
	})
	judge(t, before, after, "PgflurryLeaseLost")
}

func TestAlertNoLeaseFiresWhenNoWorkerIsFree(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	before := operate(t, direct, "held").steady()
	conn := server.Connect(t, direct)
	server.Do(t, conn, "UPDATE pgflurry.worker SET retired_at = now() WHERE kind = 'proxy' AND term = 0")
	o := operateUnleased(t, direct, "unleased")
	after := o.shows("a refusal", func(of func(string) float64) bool {
		return of(`lease_acquisitions_total{result="refused"}`) > 0 && of(`workers{state="retired"}`) > 0 &&
			of(`ready{path="/readyz"}`) == 1
	})
	judge(t, before, after, "PgflurryNoLease", "PgflurryNoFreeWorker")
}

func TestAlertNoPrimaryFiresWhenThePrimaryHangs(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	upstream, through := network.To(t, direct)
	host := server.Parse(t, through).Host
	o := operate(t, direct, "hanging", "--upstream", host, "--upstream-primary")
	before := o.steady()
	upstream.Silence()
	after := o.shows("that the primary has not answered for a while", func(of func(string) float64) bool {
		answered := of(fmt.Sprintf("upstream_answered_timestamp_seconds{host=%q}", host))
		return of(fmt.Sprintf("upstream_primary{host=%q}", host)) == 1 && float64(time.Now().Unix())-answered > 3
	})
	judge(t, before, after, "PgflurryNoPrimary")
}

func TestAlertNoPrimaryFiresWhenOnlyAStandbyAnswers(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	primary := server.Private(t, nil)
	direct := primary.URL("postgres")
	if err := migrations.Up(t.Context(), direct, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	standby := server.Standby(t, primary, "standby", fmt.Sprint("host=127.0.0.1 port=", primary.Port), nil)
	upstream, _ := network.To(t, direct)
	o := operate(t, direct, "demoted", "--upstream", upstream.Address(), "--upstream-primary")
	before := o.steady()
	upstream.Lead(fmt.Sprint("127.0.0.1:", standby.Port))
	o.Line("upstream has no primary any more")
	judge(t, before, o.steady(), "PgflurryNoPrimary")
}

func TestAlertLayoutEndsFiresAYearBefore(t *testing.T) {
	t.Parallel()
	const lasts = 1 << 35 * time.Millisecond // 397 days
	direct := server.MigratedWith(t, migrations.Settings{
		Layout: "35/0/10/12", Epoch: time.Now().Add(366*24*time.Hour - lasts).Truncate(time.Millisecond),
	})
	before := operate(t, direct, "early").steady()
	server.StepClock(t, server.Connect(t, direct), 48*time.Hour)
	judge(t, before, operate(t, direct, "late").steady(), "PgflurryLayoutEnds")
}

func TestAlertCertificateExpiresFiresTwoWeeksBefore(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	dir, ca := t.TempDir(), authority.New(t, "ca")
	issue := func(valid time.Duration) (cert, key string) {
		leaf := authority.Leaf{Hosts: []string{"127.0.0.1"}, Valid: valid}
		return ca.Issue(t, leaf).Write(t, dir, "proxy")
	}
	cert, key := issue(15 * day)
	o := operate(t, server.Migrated(t), "certificate", "--client-tls-cert", cert, "--client-tls-key", key)
	before := o.steady()
	issue(13 * day)
	o.Signal(syscall.SIGHUP)
	name := fmt.Sprintf("tls_certificate_expiry_timestamp_seconds{file=%q}", cert)
	after := o.shows("the next certificate", func(of func(string) float64) bool {
		return of(name) < before.samples["pgflurry_"+name]
	})
	judge(t, before, after, "PgflurryCertificateExpires")
}

func TestAlertNoIDsFiresWhenAClientOfTheIDDatabaseGetsNone(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	lease, through := network.To(t, direct)
	o := operate(t, direct, "no ids", "--lease-database", through, "--databases", server.Name(t, direct),
		"--id-database", "ids", "--id-auth", "trust")
	conn := server.Connect(t, server.In(t, o.URL, "ids"))
	server.Do(t, conn, "SELECT next_snowflake()")
	before := o.steady()
	if before.samples["pgflurry_id_database_ids_total"] != 1 || before.samples["pgflurry_ids_total"] != 0 {
		t.Errorf("one ID of the ID database is counted as\n%s", before.ours())
	}
	lease.Silence()
	o.shows("no reserve", func(of func(string) float64) bool { return of("lease_reserve_seconds") == 0 })
	said := server.Refused(t, conn, "57P03", "SELECT next_snowflake()")
	if !strings.Contains(said.Message, "the lease database has not acknowledged since") || said.Hint == "" {
		t.Errorf("the client is told %v, hint %q", said, said.Hint)
	}
	after := o.scrape()
	judge(t, before, after, "PgflurryNoIDs", "PgflurryReserveLow", "PgflurryNotRenewed")
}

func TestAlertAccountsOldFiresWhenTheyAreNotRead(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	o := operate(t, direct, "accounts", "--id-database", "ids")
	o.shows("that accounts were read", func(of func(string) float64) bool {
		return of("id_database_accounts_read_timestamp_seconds") > 0
	})
	before := o.steady()
	conn := server.Connect(t, direct)
	server.Do(t, conn, "ALTER TABLE pgflurry.client RENAME TO clients")
	o.Line("accounts of the ID database cannot be read")
	after := o.scrape()
	after.samples["pgflurry_id_database_accounts_read_timestamp_seconds"] -= 600 // as they would be ten minutes later
	judge(t, before, after, "PgflurryAccountsOld")
}

func TestAlertDownFiresWhenAProxyIsDead(t *testing.T) {
	t.Parallel()
	o := operate(t, server.Migrated(t), "dead")
	before := o.steady()
	o.Signal(syscall.SIGKILL)
	o.End()
	if response, err := http.Get("http://" + o.admin + "/metrics"); err == nil {
		response.Body.Close()
		t.Fatal("a killed proxy answers")
	}
	judge(t, before, down(), "PgflurryDown", "PgflurryAbsent")
}

func TestAlertDownFiresThoughTheJobHasAnotherName(t *testing.T) {
	t.Parallel()
	rules, err := filepath.Abs(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, filepath.Join(t.TempDir(), "test.yaml"), fmt.Sprintf(`
rule_files: [%q]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'up{job="pods",instance="a"}', values: '1x5 0x5'}
  - {series: 'pgflurry_build_info{job="pods",instance="a"}', values: '1x5 stale'}
  - {series: 'up{job="pods",instance="of another program"}', values: '1x5 0x5'}
  - {series: 'pgflurry_build_info{job="pods",instance="alive"}', values: '1x11'}
  promql_expr_test:
  - expr: 'count by (alertname, instance) (ALERTS{alertstate="firing"})'
    eval_time: 10m
    exp_samples: [{labels: '{alertname="PgflurryDown",instance="a"}', value: 1}]
`, rules))
	if said, err := exec.Command(tool(t, "promtool"), "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestNoAlertFiresAtAnOrdinaryRestart(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	lease, through := network.To(t, direct)
	settings := []string{
		"--lease-database", through, "--databases", server.Name(t, direct),
		"--id-database", "ids", "--id-auth", "trust",
	}
	o := operate(t, direct, "restarted", settings...)
	before := o.steady()
	o.Signal(syscall.SIGTERM)
	o.End()
	lease.Silence() // the new process has no worker at first
	o = operateUnleased(t, direct, "restarted", settings...)
	conn, inside := server.Connect(t, o.URL), server.Connect(t, server.In(t, o.URL, "ids"))
	for range 57 {
		server.Do(t, conn, "SELECT next_snowflake()")
		server.Refused(t, inside, "57P03", "SELECT next_snowflake()")
	}
	lease.Heal()
	o.Leased()
	after := o.steady()
	declined := after.samples[`pgflurry_declined_total{reason="no_lease"}`] +
		after.samples[`pgflurry_declined_total{reason="not_answerable"}`]
	if declined != 57 {
		t.Errorf("the restart has declined %v calls, expected 57:\n%s", declined, after.ours())
	}
	judgeQuiet(t, phase{before, steady}, phase{down(), 1}, phase{after, faulty})
}

func TestAlertConnectsFailFiresWhereThePortOfPostgreSQLIsWrong(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	before := operate(t, direct, "reaching").steady()
	o := operateUnleased(t, direct, "cut off", "--upstream", free(t))
	after := o.shows("connects that fail", func(of func(string) float64) bool {
		if conn, err := pgx.Connect(t.Context(), o.URL); err == nil {
			conn.Close(t.Context())
			t.Fatal("a session without PostgreSQL begins")
		}
		return of("lease_held") == 1 && of(`upstream_connects_total{result="failed"}`) > 0
	})
	judge(t, before, after, "PgflurryConnectsFail", "PgflurryNotReady")
}

func TestAlertSessionsFullFiresAtEitherLimit(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	for limit, c := range map[string]struct {
		database string
		expected []string
	}{
		"--max-connections": {server.Name(t, direct), []string{"PgflurrySessionsFull", "PgflurryNotReady"}},
		"--max-id-sessions": {"ids", []string{"PgflurrySessionsFull"}},
	} {
		o := operate(t, direct, "full "+limit, limit, "1", "--id-database", "ids", "--id-auth", "trust")
		before := o.steady()
		conn := server.Connect(t, server.In(t, o.URL, c.database))
		server.Do(t, conn, "SELECT next_snowflake()")
		judge(t, before, o.scrape(), c.expected...)
	}
}

func TestAlertReloadFailedFiresUntilAReloadSucceeds(t *testing.T) {
	t.Parallel()
	path := write(t, filepath.Join(t.TempDir(), "pgflurry.toml"), "max-logins = 100\n")
	o := operate(t, server.Migrated(t), "reloaded", "--config", path)
	before := o.steady()
	reload := func(content string, successful float64) scraped {
		write(t, path, content)
		o.Signal(syscall.SIGHUP)
		return o.shows("the result of a reload", func(of func(string) float64) bool {
			return of("config_last_reload_successful") == successful
		})
	}
	judge(t, before, reload("max-logins = -1\n", 0), "PgflurryReloadFailed")
	judge(t, before, reload("max-logins = 101\n", 1))
}

func TestAlertLogLinesLostFiresWhenNobodyReadsTheLog(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	path := write(t, filepath.Join(t.TempDir(), "pgflurry.toml"), "max-logins = 100\n")
	o := &operated{t: t, admin: free(t)}
	cmd := exec.Command(program.Path(t), program.ServeArgs(t, direct, "unread", "--config", path,
		"--admin-listen", o.admin, "--window", window.String())...)
	read, unread, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	cmd.Stderr = unread
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	unread.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for begun := bufio.NewScanner(read); begun.Scan() && !strings.Contains(begun.Text(), "listening for operators"); {
	}
	before := o.steady()
	// The log names the file.
	write(t, path, fmt.Sprintf("client-tls-cert = \"/%s\"\nclient-tls-key = \"/key\"\n", strings.Repeat("x", 100_000)))
	after := o.shows("lost lines", func(of func(string) float64) bool {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		return of("log_lines_lost_total") > 0
	})
	judge(t, before, after, "PgflurryLogLinesLost", "PgflurryReloadFailed")
}

func TestAlertServerWentBackFiresWhenAnAcknowledgedWriteIsGone(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	o := operate(t, direct, "forgotten")
	before := o.steady()
	conn := server.Connect(t, direct)
	server.Do(t, conn, "ALTER TABLE pgflurry.worker DISABLE TRIGGER USER")
	server.Do(t, conn, "UPDATE pgflurry.worker SET reserved_until = reserved_until - 1000 WHERE node = 'forgotten'")
	server.Do(t, conn, "ALTER TABLE pgflurry.worker ENABLE TRIGGER USER")
	after := o.shows("a forgotten write", func(of func(string) float64) bool {
		return of("lease_writes_forgotten_total") > 0 && of("lease_held") == 0
	})
	judge(t, before, after, "PgflurryServerWentBack", "PgflurryLeaseLost", "PgflurryNoLease")
}

func TestAlertClockAheadFiresWhenTheDatabasesClockIsSetBack(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	o := operate(t, direct, "ahead")
	before := o.steady()
	server.StepClock(t, server.Connect(t, direct), -10*time.Second)
	after := o.shows("that IDs are ahead", func(of func(string) float64) bool { return of("clock_ahead_seconds") > 5 })
	judge(t, before, after, "PgflurryClockAhead")

	function := scraped{at: before.at, samples: maps.Clone(before.samples)}
	function.samples["pgflurry_function_ahead_seconds"] = 40 // node's tests see a real one
	judge(t, before, function, "PgflurryClockAhead")
}

func TestAlertNewServerFiresAtACopyThatNobodyHasDeclaredAndNotAtARestart(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	original := server.Private(t, nil)
	settings := migrations.Settings{RestartQuarantine: new(time.Duration)}
	if err := migrations.Up(t.Context(), original.URL("postgres"), settings); err != nil {
		t.Fatal(err)
	}
	copied := server.Clone(t, original, "copied")
	server.Stop(t, original)
	original = server.Again(t, original.Data, original.Port)
	before := operate(t, original.URL("postgres"), "restarted").steady()
	o := operate(t, copied.URL("postgres"), "copied")
	after := o.shows("a new server", func(of func(string) float64) bool { return of("new_server") == 1 })
	judge(t, before, after, "PgflurryNewServer")
}

func TestAlertWorkerConflictFiresWhereAFunctionHasAWorkerOfProxies(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	server.Migrate(t, joined, migrations.Settings{JoinURL: home})
	both := server.Name(t, home) + "," + server.Name(t, joined)
	before := operate(t, home, "apart", "--databases", both).steady()
	server.Exec(t, joined, `ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER;
		UPDATE pgflurry.namespace SET function_worker = 500, function_workers = '{[0,16),[500,501)}';
		ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace`)
	o := operate(t, home, "conflict", "--databases", both)
	after := o.shows("a conflict", func(of func(string) float64) bool {
		return of(`database_worker_conflict{database="`+server.Name(t, joined)+`"}`) == 1
	})
	judge(t, before, after, "PgflurryWorkerConflict")
}

package operate

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/network"
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
		return of(`lease_acquisitions_total{result="refused"}`) > 0
	})
	judge(t, before, after, "PgflurryNoLease")
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

const (
	step   = 15 * time.Second
	steady = 8  // steps before the fault
	faulty = 20 // steps with it
)

// goesOn maps each timestamp that moves on while all is well to the alert for one that stands still.
var goesOn = map[string]string{
	"pgflurry_lease_last_renewal_timestamp_seconds": "PgflurryNotRenewed",
	"pgflurry_upstream_answered_timestamp_seconds":  "PgflurryNoPrimary",
}

// judge lets promtool say which alerts fire. Before the fault none may; some minutes after it exactly the expected ones
// must.
func judge(t *testing.T, before, after scraped, expected ...string) {
	t.Helper()
	rules, err := filepath.Abs("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var test strings.Builder
	fmt.Fprintf(&test, "rule_files: [%q]\nevaluation_interval: %v\ntests:\n- interval: %v\n  input_series:\n",
		rules, step, step)
	series := maps.Clone(before.samples)
	maps.Copy(series, after.samples)
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if strings.HasPrefix(name, "pgflurry_") {
			fmt.Fprintf(&test, "  - series: '%s'\n    values: '%s %s'\n", labelled(name),
				held(before, name, 0, steady, nil), held(after, name, steady+1, faulty, expected))
		}
	}
	const firing = `count by (alertname) (ALERTS{alertstate="firing"})`
	slices.Sort(expected)
	fmt.Fprint(&test, "  promql_expr_test:\n")
	fmt.Fprintf(&test, "  - {expr: '%s', eval_time: %v, exp_samples: []}\n", firing, steady*step)
	fmt.Fprintf(&test, "  - expr: '%s'\n    eval_time: %v\n    exp_samples:\n", firing, (steady+faulty)*step)
	for _, alert := range expected {
		fmt.Fprintf(&test, "    - {labels: '{alertname=%q}', value: 1}\n", alert)
	}
	path := write(t, filepath.Join(t.TempDir(), "test.yaml"), test.String())
	if said, err := exec.Command(tool(t, "promtool"), "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("expected that after the fault %q fire, and before it none: %v\n%s\n%s",
			expected, err, said, after.ours())
	}
}

// labelled adds the labels that Prometheus adds to a sample.
func labelled(name string) string {
	const added = `instance="db1:6533",job="pgflurry"`
	name, labels, any := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	if any {
		return name + "{" + labels + "," + added + "}"
	}
	return name + "{" + added + "}"
}

// held returns the series of one scraped sample for n steps, or of its absence. promtool's clock begins in 1970. So a
// timestamp keeps its distance from the scrape, counted from that beginning. Timestamps that go on do so until their
// alert fires.
func held(s scraped, name string, begin, steps int, firing []string) string {
	value, there := s.samples[name]
	if !there {
		return fmt.Sprintf("_x%d", steps+1)
	}
	plain, _, _ := strings.Cut(name, "{")
	if strings.HasSuffix(plain, "_timestamp_seconds") {
		value += (time.Duration(begin) * step).Seconds() - float64(s.at.UnixMilli())/1000
	}
	if alert, is := goesOn[plain]; is && !slices.Contains(firing, alert) {
		return fmt.Sprintf("%v+%vx%d", value, step.Seconds(), steps)
	}
	return fmt.Sprintf("%v+0x%d", value, steps)
}

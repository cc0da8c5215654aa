//go:build full

package operate

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const alertsFile = "../../deploy/prometheus/alerts.yaml"

const (
	step   = 15 * time.Second
	steady = 8  // steps before the fault
	faulty = 24 // steps with it
)

// goesOn maps each timestamp that moves on while all is well to the alert for one that stands still.
var goesOn = map[string]string{
	"pgflurry_lease_last_renewal_timestamp_seconds": "PgflurryNotRenewed",
	"pgflurry_upstream_answered_timestamp_seconds":  "PgflurryNoPrimary",
}

// rises maps each counter that goes on rising while a fault lasts to the alert for that.
var rises = map[string]string{
	"pgflurry_declined_total":            "PgflurryDeclined",
	"pgflurry_id_database_refused_total": "PgflurryNoIDs",
	"pgflurry_upstream_connects_total":   "PgflurryConnectsFail",
}

// A phase is what Prometheus scrapes at each of some steps.
type phase struct {
	scraped
	steps int
}

// judge lets promtool say which alerts fire. Before the fault none may; some minutes after it exactly the expected ones
// must.
func judge(t *testing.T, before, after scraped, expected ...string) {
	t.Helper()
	const firing = `count by (alertname) (ALERTS{alertstate="firing"})`
	slices.Sort(expected)
	var tests strings.Builder
	fmt.Fprintf(&tests, "  - {expr: '%s', eval_time: %v, exp_samples: []}\n", firing, steady*step)
	fmt.Fprintf(&tests, "  - expr: '%s'\n    eval_time: %v\n    exp_samples:\n", firing, (steady+1+faulty)*step)
	for _, alert := range expected {
		fmt.Fprintf(&tests, "    - {labels: '{alertname=%q}', value: 1}\n", alert)
	}
	phases := []phase{{before, steady}, {after, faulty}}
	if said := promtool(t, phases, expected, tests.String()); said != "" {
		t.Errorf("expected that after the fault %q fire, and before it none: %s\n%s", expected, said, after.ours())
	}
}

// judgeQuiet lets promtool say that no alert ever fires.
func judgeQuiet(t *testing.T, phases ...phase) {
	t.Helper()
	var end time.Duration
	for _, p := range phases {
		end += time.Duration(p.steps+1) * step
	}
	ever := fmt.Sprintf("  - {expr: 'count by (alertname) (count_over_time(ALERTS{alertstate=\"firing\"}[%v]))', "+
		"eval_time: %v, exp_samples: []}\n", end, end-step)
	if said := promtool(t, phases, nil, ever); said != "" {
		t.Errorf("expected that no alert fires: %s\n%s", said, phases[len(phases)-1].ours())
	}
}

// promtool tests the rules with the samples of the phases. firing are the alerts that the test expects. It returns what
// promtool says of a test that fails.
func promtool(t *testing.T, phases []phase, firing []string, tests string) string {
	t.Helper()
	rules, err := filepath.Abs(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	fmt.Fprintf(&file, "rule_files: [%q]\nevaluation_interval: %v\ntests:\n- interval: %v\n  input_series:\n",
		rules, step, step)
	for _, name := range names(phases) {
		fmt.Fprintf(&file, "  - series: '%s'\n    values: '%s'\n", labelled(name), series(phases, name, firing))
	}
	file.WriteString("  promql_expr_test:\n" + tests)
	path := write(t, filepath.Join(t.TempDir(), "test.yaml"), file.String())
	if said, err := exec.Command(tool(t, "promtool"), "test", "rules", path).CombinedOutput(); err != nil {
		return fmt.Sprintf("%v\n%s", err, said)
	}
	return ""
}

// names are the samples of all phases, without those of the Go program.
func names(phases []phase) (all []string) {
	for _, p := range phases {
		for name := range p.samples {
			if name == "up" || strings.HasPrefix(name, "pgflurry_") {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
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

// series is one sample in all phases, as promtool reads it.
func series(phases []phase, name string, firing []string) string {
	var parts []string
	begin, known := 0, false
	for i, p := range phases {
		value, there := p.samples[name]
		switch {
		case there && i == 0: // all is well
			parts = append(parts, p.held(name, begin, 0, nil))
		case there:
			by := 0.0
			if slices.Contains(firing, rises[plain(name)]) {
				by = max(0, value-phases[i-1].samples[name])
			}
			parts = append(parts, p.held(name, begin, by, firing))
		case known: // Prometheus marks the end of a series
			parts = append(parts, fmt.Sprintf("stale _x%d", p.steps))
		default:
			parts = append(parts, fmt.Sprintf("_x%d", p.steps+1))
		}
		known = there
		begin += p.steps + 1
	}
	return strings.Join(parts, " ")
}

// plain is the name without labels.
func plain(name string) string {
	name, _, _ = strings.Cut(name, "{")
	return name
}

// held is one sample for all steps of a phase, which rises by so much at each. promtool's clock begins in 1970. So a
// timestamp keeps its distance from the scrape, counted from that beginning. Timestamps that go on do so until their
// alert fires.
func (p phase) held(name string, begin int, by float64, firing []string) string {
	value := p.samples[name]
	if strings.HasSuffix(plain(name), "_timestamp_seconds") {
		value += (time.Duration(begin) * step).Seconds() - float64(p.at.UnixMilli())/1000
	}
	if alert, is := goesOn[plain(name)]; is && !slices.Contains(firing, alert) {
		by = step.Seconds()
	}
	return fmt.Sprintf("%v+%vx%d", value, by, p.steps)
}

//go:build full

package operate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMetricsPassPromtoolsCheck(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "INSERT INTO pgflurry.segment (biz_tag, step) VALUES ('order', 100)")
	o := operate(t, direct, "checked")
	conn := server.Connect(t, o.URL)
	o.shows("an answer of each kind", func(of func(string) float64) bool {
		// A draw that PostgreSQL answers, as on a busy machine, is not counted.
		server.Do(t, conn, "SELECT next_snowflake()")
		server.Do(t, conn, "SELECT pgflurry.next_segment('order')")
		return of(`answers_total{kind="snowflake"}`) > 0 && of(`answers_total{kind="segment"}`) > 0
	})
	check := exec.Command(tool(t, "promtool"), "check", "metrics")
	check.Stdin = strings.NewReader(o.scrape().text)
	if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v:\n%s", err, said)
	}
}

func TestPrometheusScrapesBothFormatsAndKnowsTheAlerts(t *testing.T) {
	t.Parallel()
	o := operate(t, server.Migrated(t), "scraped")
	const drawn = 17
	conn := server.Connect(t, o.URL)
	for range drawn {
		server.Do(t, conn, "SELECT next_snowflake()")
	}
	asText := newFormatProxy(t, o.admin, "text/plain;version=0.0.4")
	asOpenMetrics := newFormatProxy(t, o.admin, "application/openmetrics-text;version=1.0.0")

	p := startPrometheus(t, asText.address, asOpenMetrics.address)
	for query, expected := range map[string]float64{"up": 1, "pgflurry_ids_total": drawn} {
		for _, instance := range []string{asText.address, asOpenMetrics.address} {
			p.answers(fmt.Sprintf("%s{instance=%q}", query, instance), expected)
		}
	}
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health string }
			}
		}
	}
	p.ask("/api/v1/rules", &rules)
	if len(rules.Data.Groups) != 1 || len(rules.Data.Groups[0].Rules) == 0 {
		t.Fatalf("Prometheus knows the alerts %+v", rules)
	}
	for _, rule := range rules.Data.Groups[0].Rules {
		if rule.Health == "err" {
			t.Errorf("Prometheus cannot evaluate %s", rule.Name)
		}
	}
	for kind, proxy := range map[string]*formatProxy{
		"text/plain; version=0.0.4": asText, "application/openmetrics-text; version=1.0.0": asOpenMetrics,
	} {
		if got := proxy.got(); !strings.HasPrefix(got, kind) {
			t.Errorf("the answer to who accepts %s alone is of type %q", kind, got)
		}
	}
}

// formatProxy stands between Prometheus and the admin listener and allows only one format. The format that this release
// of Prometheus prefers cannot be configured.
type formatProxy struct {
	address string

	mu   sync.Mutex
	kind string // of the last answer
}

func newFormatProxy(t *testing.T, admin, accept string) *formatProxy {
	t.Helper()
	f := &formatProxy{}
	relay := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: admin})
		r.Out.Header.Set("Accept", accept)
	}}
	relay.ModifyResponse = func(r *http.Response) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.kind = r.Header.Get("Content-Type")
		return nil
	}
	listener := httptest.NewServer(relay)
	t.Cleanup(listener.Close)
	f.address = listener.Listener.Addr().String()
	return f
}

func (f *formatProxy) got() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kind
}

// prometheus is a real Prometheus, with a port and a folder of its own.
type prometheus struct {
	t       *testing.T
	address string
}

func startPrometheus(t *testing.T, targets ...string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	rules, err := filepath.Abs("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := write(t, filepath.Join(dir, "prometheus.yml"), fmt.Sprintf(`
global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
rule_files: [%q]
scrape_configs:
- job_name: pgflurry
  static_configs:
  - targets: ["%s"]
`, rules, strings.Join(targets, `", "`)))
	p := &prometheus{t: t, address: free(t)}
	running := program.StartCommand(t, exec.Command(tool(t, "prometheus"), "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.address))
	running.Line("Server is ready to receive web requests")
	return p
}

// ask sends a question to its API.
func (p *prometheus) ask(path string, into any) {
	p.t.Helper()
	response, err := http.Get("http://" + p.address + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
}

// answers waits until a query has exactly one value, and the expected one.
func (p *prometheus) answers(query string, expected float64) {
	p.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	limit := time.After(server.Patience)
	for {
		var answer struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		p.ask("/api/v1/query?query="+url.QueryEscape(query), &answer)
		if all := answer.Data.Result; len(all) == 1 && all[0].Value[1] == fmt.Sprint(expected) {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			var targets json.RawMessage
			p.ask("/api/v1/targets", &targets)
			p.t.Fatalf("%s is %v, expected %v; targets: %s", query, answer.Data.Result, expected, targets)
		}
	}
}

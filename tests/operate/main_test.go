//go:build full

package operate

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/browser"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) {
	code := server.Run(m)
	browser.End()
	os.Exit(code)
}

// tool finds a program of Prometheus. Without it the test is skipped, but fails in CI.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("PGFLURRY_TEST_PROMETHEUS") == "" {
		t.Skipf("%s is not installed", name)
	}
	if err != nil {
		t.Fatalf("PGFLURRY_TEST_PROMETHEUS is set, and %s is not installed (Debian's package prometheus has it)", name)
	}
	return path
}

// window is short, so that a test sees it end.
const window = 3 * time.Second

// operated is a proxy with an admin listener.
type operated struct {
	*program.Proxy
	t     *testing.T
	admin string // host:port
}

// operate starts a proxy with an admin listener, and waits until it has a worker.
func operate(t *testing.T, direct, node string, more ...string) *operated {
	t.Helper()
	o := operateUnleased(t, direct, node, more...)
	o.Leased()
	return o
}

func operateUnleased(t *testing.T, direct, node string, more ...string) *operated {
	t.Helper()
	p := program.ServeUnleased(t, direct, node, append([]string{
		"--admin-listen", "127.0.0.1:0", "--window", window.String(),
	}, more...)...)
	return &operated{Proxy: p, t: t, admin: program.Field(p.Line("listening for operators"), "address")}
}

// get returns an answer of the admin listener.
func (o *operated) get(path string) (status int, body string) {
	o.t.Helper()
	response, err := http.Get("http://" + o.admin + path)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

// scraped is the content of /metrics at one moment.
type scraped struct {
	at      time.Time
	text    string
	samples map[string]float64 // by name and labels, as in the text; and "up", which is Prometheus's own
}

// down is what Prometheus has of a proxy that does not answer.
func down() scraped { return scraped{at: time.Now(), samples: map[string]float64{"up": 0}} }

var sampleLine = regexp.MustCompile(`(?m)^(pgflurry_\w+(?:\{.*\})?) (\S+)$`)

func (o *operated) scrape() scraped {
	o.t.Helper()
	s := scraped{at: time.Now(), samples: map[string]float64{"up": 1}}
	status, body := o.get("/metrics")
	if status != http.StatusOK {
		o.t.Fatalf("status %d: %s", status, body)
	}
	s.text = body
	for _, line := range sampleLine.FindAllStringSubmatch(body, -1) {
		value, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			o.t.Fatalf("%s: %v", line[0], err)
		}
		s.samples[line[1]] = value
	}
	return s
}

// shows waits until the metrics fulfil a condition, and returns those.
func (o *operated) shows(what string, so func(of func(sample string) float64) bool) scraped {
	o.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.After(server.Patience)
	for {
		s := o.scrape()
		if so(func(sample string) float64 { return s.samples["pgflurry_"+sample] }) {
			return s
		}
		select {
		case <-look.C:
		case <-limit:
			o.t.Fatalf("the metrics never show %s:\n%s", what, s.ours())
		}
	}
}

// steady returns the metrics once all is well.
func (o *operated) steady() scraped {
	o.t.Helper()
	return o.shows("that all is well", func(of func(string) float64) bool {
		return of("lease_held") == 1 && of("lease_reserve_seconds") > window.Seconds()/2 &&
			of(`lease_renewals_total{result="ok"}`) > 0
	})
}

// ours returns the product's own metrics, for a reader of a failed test.
func (s scraped) ours() string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.samples)) {
		if !strings.Contains(name, "_bucket{") {
			fmt.Fprintln(&lines, name, s.samples[name])
		}
	}
	return lines.String()
}

// free returns an address where nobody listens.
func free(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(server.FreePort(t)))
}

// write writes a file of the test's own and gives its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.TrimLeft(text, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

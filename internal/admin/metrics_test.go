package admin

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
)

// sample is one line of the text format.
type sample struct {
	name   string
	labels map[string]string
	value  string
}

// exposition is the answer to GET /metrics.
type exposition struct {
	help, kind map[string]string // by metric
	samples    []sample
}

var (
	sampleLine = regexp.MustCompile(`^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$`)
	labelPart  = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

// scrape reads the metrics of a node.
func scrape(t *testing.T, address string) exposition {
	t.Helper()
	status, header, body := ask(t, "GET", "http://"+address+"/metrics")
	if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("status %d, %s:\n%s", status, header.Get("Content-Type"), body)
	}
	e := exposition{help: map[string]string{}, kind: map[string]string{}}
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		line := lines.Text()
		if words := strings.SplitN(line, " ", 4); words[0] == "#" && words[1] == "HELP" {
			e.help[words[2]] = words[3]
		} else if words[0] == "#" && words[1] == "TYPE" {
			e.kind[words[2]] = words[3]
		} else if parts := sampleLine.FindStringSubmatch(line); parts != nil {
			s := sample{name: parts[1], labels: map[string]string{}, value: parts[3]}
			for _, label := range labelPart.FindAllStringSubmatch(parts[2], -1) {
				s.labels[label[1]] = label[2]
			}
			e.samples = append(e.samples, s)
		} else {
			t.Errorf("no line of the text format: %s", line)
		}
	}
	return e
}

// value is the value of the one sample with these labels.
func (e exposition) value(name string, labels ...string) string {
	for _, s := range e.samples {
		same := s.name == name && len(s.labels) == len(labels)/2
		for i := 0; i+1 < len(labels); i += 2 {
			same = same && s.labels[labels[i]] == labels[i+1]
		}
		if same {
			return s.value
		}
	}
	return "absent"
}

// full is a state in which every metric has a sample.
func full() report.State {
	s := wholesome()
	waits := report.NewHistogram(time.Millisecond, time.Second)
	waits.Observe(500 * time.Microsecond)
	waits.Observe(time.Minute)
	s.Version, s.Name, s.Namespace.ID = "v1.2.3", "east-1", "5b7e"
	s.Namespace.End, s.Reloaded = time.Unix(4e9, 0), time.Unix(17e8, 5e8)
	s.Lease.Renewed = time.Unix(17e8, 25e7)
	s.Lease.Renewals = map[string]int64{"ok": 7, "lost": 1}
	s.Clock = report.Clock{
		Known: true, Offset: -1500 * time.Millisecond, Ahead: time.Second,
		RoundTrip: 3 * time.Millisecond,
	}
	s.Workers = report.Workers{
		Read: time.Unix(1, 0), Counts: map[string]int{"held": 3, "free": 1020}, FunctionAhead: 2500 * time.Millisecond,
	}
	s.Answers = report.Answers{
		IDs: 12, ByKind: map[string]int64{"snowflake": 2}, Declined: map[string]int64{"grant_ended": 4},
		Waits: waits.Snapshot(),
	}
	s.Sessions.Open, s.Sessions.Relayed = map[string]int{"idle": 5}, map[string]int64{"to_client": 1 << 40}
	s.Segments = []report.Segment{{Database: "app", Tag: "order", Left: 900, Fetches: 2, Skipped: 50}}
	s.Certificates = []report.Certificate{{File: "/etc/tls.crt", Until: time.Unix(18e8, 0)}}
	s.Databases = append(s.Databases, report.Database{Name: "twice", WorkerConflict: true})
	s.Upstreams.Found = 16
	s.Upstreams.Hosts = []report.UpstreamHost{
		{Name: "db1:5432"}, {Name: "db2:5432", Primary: true, Heard: time.Unix(20e8, 0)},
	}
	s.IDDatabase = report.IDDatabase{
		Name: "pgflurry", Open: map[string]int{"idle": 9_000, "login": 3}, Limit: 10_000, IDs: 77, Numbers: 6,
		Closed: map[string]int64{"idle": 8}, Logins: map[string]int64{"password": 11},
		ByKind: map[string]int64{"segment": 13}, Refused: map[string]int64{"no_ids": 14}, LoginsIn: waits.Snapshot(),
		Accounts: report.Accounts{Needed: true, Count: 15, Read: time.Unix(19e8, 0), From: "pgflurry.client"},
	}
	return s
}

func TestMetricsAreWhatTheStateSays(t *testing.T) {
	address, _ := serve(t, New(Settings{Node: &fakeNode{state: full()}}))
	e := scrape(t, address)
	if twice := e.value("pgflurry_database_worker_conflict", "database", "twice"); twice != "1" {
		t.Errorf("a function with a proxy's worker has the sample %s", twice)
	}
	for want, got := range map[string]string{
		"1":                  e.value("pgflurry_worker_info", "worker", "137", "node", "east-1", "namespace", "5b7e"),
		"12":                 e.value("pgflurry_ids_total"),
		"16":                 e.value("pgflurry_upstream_primaries_total"),
		"0":                  e.value("pgflurry_upstream_primary", "host", "db1:5432"),
		"2e+09":              e.value("pgflurry_upstream_answered_timestamp_seconds", "host", "db2:5432"),
		"2":                  e.value("pgflurry_answers_total", "kind", "snowflake"),
		"4":                  e.value("pgflurry_declined_total", "reason", "grant_ended"),
		"60":                 e.value("pgflurry_lease_reserve_seconds"),
		"7":                  e.value("pgflurry_lease_renewals_total", "result", "ok"),
		"1.70000000025e+09":  e.value("pgflurry_lease_last_renewal_timestamp_seconds"),
		"-1.5":               e.value("pgflurry_clock_offset_seconds"),
		"0.003":              e.value("pgflurry_clock_round_trip_seconds"),
		"4e+09":              e.value("pgflurry_layout_end_timestamp_seconds"),
		"1020":               e.value("pgflurry_workers", "state", "free"),
		"2.5":                e.value("pgflurry_function_ahead_seconds"),
		"5":                  e.value("pgflurry_sessions", "state", "idle"),
		"100":                e.value("pgflurry_sessions_limit"),
		"1.099511627776e+12": e.value("pgflurry_relayed_bytes_total", "direction", "to_client"),
		"900":                e.value("pgflurry_segment_remaining", "database", "app", "tag", "order"),
		"50":                 e.value("pgflurry_segment_skipped_total", "database", "app", "tag", "order"),
		"1.8e+09":            e.value("pgflurry_tls_certificate_expiry_timestamp_seconds", "file", "/etc/tls.crt"),
		"1.7000000005e+09":   e.value("pgflurry_config_reload_success_timestamp_seconds"),
		"60.0005":            e.value("pgflurry_id_wait_seconds_sum"),
		"9000":               e.value("pgflurry_id_database_sessions", "state", "idle"),
		"10000":              e.value("pgflurry_id_database_sessions_limit"),
		"77":                 e.value("pgflurry_id_database_ids_total"),
		"6":                  e.value("pgflurry_id_database_numbers_total"),
		"8":                  e.value("pgflurry_id_database_sessions_closed_total", "reason", "idle"),
		"11":                 e.value("pgflurry_id_database_logins_total", "result", "password"),
		"13":                 e.value("pgflurry_id_database_answers_total", "kind", "segment"),
		"14":                 e.value("pgflurry_id_database_refused_total", "reason", "no_ids"),
		"15":                 e.value("pgflurry_id_database_accounts"),
		"1.9e+09":            e.value("pgflurry_id_database_accounts_read_timestamp_seconds"),
	} {
		if got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
	buckets := []string{
		e.value("pgflurry_id_wait_seconds_bucket", "le", "0.001"),
		e.value("pgflurry_id_wait_seconds_bucket", "le", "1"),
		e.value("pgflurry_id_wait_seconds_bucket", "le", "+Inf"), e.value("pgflurry_id_wait_seconds_count"),
	}
	if !slices.Equal(buckets, []string{"1", "1", "2", "2"}) {
		t.Errorf("buckets %v", buckets)
	}
}

func TestMetricsOfReadinessAreWhatTheProbesAnswer(t *testing.T) {
	drains, unleased, idsOnly := full(), full(), full()
	drains.Draining = true
	unleased.Lease.Reserve = 0
	idsOnly.Databases = nil
	for name, s := range map[string]report.State{
		"all is well": full(), "it drains": drains, "it has no lease": unleased, "there is no PostgreSQL": idsOnly,
	} {
		address, _ := serve(t, New(Settings{Node: &fakeNode{state: s}}))
		e := scrape(t, address)
		for _, path := range []string{readyPath, readyIDsPath, readyIDDatabasePath} {
			status, _, body := ask(t, "GET", "http://"+address+path)
			want := map[int]string{http.StatusOK: "1", http.StatusServiceUnavailable: "0"}[status]
			if got := e.value("pgflurry_ready", "path", path); got != want {
				t.Errorf("%s: %s answers %d %s, but the metric is %s", name, path, status, body, got)
			}
		}
	}
}

func TestWhatIsNotKnownIsAbsentAndNotZero(t *testing.T) {
	address, _ := serve(t, New(Settings{Node: &fakeNode{}}))
	e := scrape(t, address)
	for _, name := range []string{
		"worker_info", "lease_last_renewal_timestamp_seconds", "layout_end_timestamp_seconds", "clock_offset_seconds",
		"config_reload_success_timestamp_seconds", "workers",
	} {
		if slices.ContainsFunc(e.samples, func(s sample) bool { return s.name == prefix+name }) {
			t.Errorf("%s has a sample", name)
		}
	}
	if slices.ContainsFunc(e.samples, func(s sample) bool { return strings.HasPrefix(s.name, prefix+"id_database") }) {
		t.Error("an ID database that is not there has samples")
	}
	if v := e.value("pgflurry_lease_held"); v != "0" {
		t.Errorf("lease_held is %s: no lease is known from the start", v)
	}
	if v := e.value("pgflurry_declined_total", "reason", "timeout"); v != "0" {
		t.Errorf("a counter without events is %s: a rate needs its zero", v)
	}
}

func TestInvariant3LabelsAreBounded(t *testing.T) {
	node := &fakeNode{state: full()}
	node.state.Segments = nil
	for i := range 250 {
		node.state.Segments = append(node.state.Segments,
			report.Segment{Database: "app", Tag: fmt.Sprintf("tag%03d", i), Left: 1, Fetches: 1})
	}
	address, _ := serve(t, New(Settings{Node: node}))
	tags := func() (series int, e exposition) {
		e = scrape(t, address)
		for _, s := range e.samples {
			if s.name == "pgflurry_segment_remaining" {
				series++
			}
		}
		return series, e
	}
	if series, e := tags(); series != 101 ||
		e.value("pgflurry_segment_remaining", "database", "app", "tag", "other") != "150" {
		t.Errorf("%d series", series)
	}
	// A tag that sorts first displaces no other. Invalid labels, and a tag named like the rest, do no harm.
	node.become(func(s *report.State) {
		s.Segments = append([]report.Segment{
			{Database: "app", Tag: "aaa", Left: 1},
			{Database: "app", Tag: "other", Left: 1},
			{Database: "a\xffp", Tag: "\xfe", Left: 1},
		}, s.Segments...)
	})
	series, e := tags()
	if series != 102 || e.value("pgflurry_segment_remaining", "database", "app", "tag", "tag099") != "1" ||
		e.value("pgflurry_segment_remaining", "database", "app", "tag", "other") != "152" {
		t.Errorf("%d series with three more tags", series)
	}
}

func TestWhatIsThereTwiceSpoilsNoScrape(t *testing.T) {
	node := &fakeNode{state: full()}
	s := &node.state
	s.Certificates = append(s.Certificates, s.Certificates[0]) // shown to clients and to the upstream
	s.Databases = append(s.Databases, report.Database{Name: "\xff"}, report.Database{Name: "\xfe"})
	address, _ := serve(t, New(Settings{Node: node}))
	e := scrape(t, address)
	if v := e.value("pgflurry_tls_certificate_expiry_timestamp_seconds", "file", "/etc/tls.crt"); v != "1.8e+09" {
		t.Errorf("the certificate expires at %s", v)
	}
}

func TestOpenMetricsAreGivenToWhoAsksForThem(t *testing.T) {
	address, _ := serve(t, New(Settings{Node: &fakeNode{state: full()}}))
	status, header, body := ask(t, "GET", "http://"+address+"/metrics", "Accept",
		"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5")
	kind := header.Get("Content-Type")
	if status != http.StatusOK || !strings.HasPrefix(kind, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("status %d, %s", status, kind)
	}
	if !strings.HasSuffix(body, "# EOF\n") || !strings.Contains(body, "\npgflurry_ids_total 12.0\n") {
		t.Errorf("no OpenMetrics:\n%s", body)
	}
}

// enumerated are the labels whose values the table lists.
var enumerated = []string{"kind", "reason", "result", "state", "direction"}

// row is the line of a metric in the table of docs/reference.md.
func (e exposition) row(name string) string {
	values := map[string][]string{}
	for _, s := range e.samples {
		base := s.name
		if e.kind[name] == "histogram" {
			base = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(base, "")
		}
		if base != name {
			continue
		}
		for label, value := range s.labels {
			if label != "le" && !slices.Contains(values[label], value) {
				values[label] = append(values[label], value)
			}
		}
	}
	var labels []string
	for label, of := range values {
		if slices.Contains(enumerated, label) {
			slices.Sort(of)
			labels = append(labels, "`"+label+"`: "+strings.Join(of, ", "))
		} else {
			labels = append(labels, "`"+label+"`")
		}
	}
	slices.Sort(labels)
	cell := strings.Join(labels, ", ")
	if cell == "" {
		cell = "–"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", name, e.kind[name], cell, strings.TrimSuffix(e.help[name], "."))
}

func TestTheTableOfMetricsIsWhatIsGiven(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, New(Settings{Node: &fakeNode{state: full()}}))
	e := scrape(t, address)
	var given []string
	for name := range e.kind {
		if strings.HasPrefix(name, prefix) {
			given = append(given, e.row(name))
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `pgflurry_.*$").FindAllString(string(page), -1)
	for _, row := range rows {
		if !slices.Contains(given, row) {
			t.Errorf("docs/reference.md has a row that is not so:\n%s", row)
		}
	}
	for _, row := range given {
		if !slices.Contains(rows, row) {
			t.Errorf("docs/reference.md lacks a row:\n%s", row)
		}
	}
}

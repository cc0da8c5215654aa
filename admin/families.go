package admin

import (
	"maps"
	"slices"
	"time"

	"pgflurry/histogram"
	"pgflurry/report"

	"github.com/prometheus/client_golang/prometheus"
)

// A family is one metric: its name, and how it reads its samples from a State.
type family struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string
	read       func(report.State, put)
}

// put emits one sample, with the values of the family's labels.
type put func(value float64, labels ...string)

// durations is one histogram. ids: only a node with an ID database has it.
type durations struct {
	name, help string
	ids        bool
	read       func(report.State) histogram.Snapshot
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// families are all our metrics except histograms, in the order of docs/operations.md. An unknown value has no sample:
// alerts would take a zero for a measurement.
var families = []family{
	{"build_info", "The program; always 1.", gauge, []string{"version", "goversion"}, func(s report.State, put put) {
		put(1, s.Version, builtWith())
	}},
	{
		"worker_info", "The worker whose IDs are given; always 1, and absent while there is none.",
		gauge,
		[]string{"worker", "node", "namespace"},
		func(s report.State, put put) {
			if s.Lease.Granted && s.Lease.Reserve > 0 {
				put(1, number(s.Lease.Worker), s.Name, s.Namespace.ID)
			}
		},
	},
	{
		"ids_total", "IDs given from memory.", counter, nil,
		func(s report.State, put put) { put(float64(s.Answers.IDs)) },
	},
	counts("answers_total", "Statements answered from memory, by their form.", "kind",
		func(s report.State) map[string]int64 { return s.Answers.ByKind }, "snowflake", "snowflakes", "segment"),
	counts("declined_total", "Statements that PostgreSQL got because no IDs were there for them, by reason.", "reason",
		func(s report.State) map[string]int64 { return s.Answers.Declined },
		"no_lease", "grant_ended", "tick_full", "not_answerable", "timeout"),
	{"lease_held", "1 while a worker is leased.", gauge, nil, func(s report.State, put put) { put(is(s.Lease.Held)) }},
	{
		"lease_reserve_seconds", "How long IDs go on without PostgreSQL: to reserved_until, by the database's clock.",
		gauge, nil, func(s report.State, put put) { put(s.Lease.Reserve.Seconds()) },
	},
	{
		"lease_window_seconds", "How far ahead a renewal reserves when all is well (--window).",
		gauge, nil, func(s report.State, put put) { put(s.Lease.Window.Seconds()) },
	},
	moment("lease_last_renewal_timestamp_seconds", "When PostgreSQL acknowledged the lease for the last time.",
		func(s report.State) time.Time { return s.Lease.Renewed }),
	counts("lease_renewals_total", "Renewals of the lease, by result.", "result",
		func(s report.State) map[string]int64 { return s.Lease.Renewals }, "ok", "unknown", "refused", "lost"),
	counts("lease_acquisitions_total", "Attempts to lease a worker, by result.", "result",
		func(s report.State) map[string]int64 { return s.Lease.Acquisitions }, "ok", "unknown", "refused"),
	{
		"lease_writes_forgotten_total", "How often a row proved that the database had lost acknowledged writes.",
		counter, nil, func(s report.State, put put) { put(float64(s.Lease.Forgotten)) },
	},
	clock("clock_offset_seconds", "How far this machine's clock is ahead of the database's. No ID depends on it.",
		func(c report.Clock) time.Duration { return c.Offset }),
	clock("clock_ahead_seconds", "How far IDs are ahead of the database's clock.",
		func(c report.Clock) time.Duration { return c.Ahead }),
	clock("clock_round_trip_seconds", "How long the last renewal took.",
		func(c report.Clock) time.Duration { return c.RoundTrip }),
	moment("layout_end_timestamp_seconds", "When the timestamps of the layout end. No ID is given after it.",
		func(s report.State) time.Time { return s.Namespace.End }),
	{
		"workers", "Workers of proxies in the worker table, by state; as last read.",
		gauge,
		[]string{"state"},
		func(s report.State, put put) {
			if !s.Workers.Read.IsZero() {
				each(s.Workers.Counts, put, "held", "resting", "free", "retired")
			}
		},
	},
	{
		"sessions", "Connections of clients, by what they do.",
		gauge,
		[]string{"state"},
		func(s report.State, put put) {
			each(s.Sessions.Open, put, "login", "idle", "in_transaction", "failed")
		},
	},
	{
		"sessions_limit", "How many sessions may be open at once; 0 is no limit.",
		gauge, nil, func(s report.State, put put) { put(float64(s.Sessions.Limit)) },
	},
	counts("sessions_closed_total", "Sessions that ended, by reason.", "reason",
		func(s report.State) map[string]int64 { return s.Sessions.Closed },
		"client", "demoted", "drain", "fault", "limit", "protocol", "refused", "timeout", "upstream"),
	counts("logins_total", "Logins of clients, by result.", "result",
		func(s report.State) map[string]int64 { return s.Sessions.Logins }, "ok", "refused", "failed"),
	counts("upstream_connects_total", "Connections to the upstream, by result.", "result",
		func(s report.State) map[string]int64 { return s.Upstreams.Connects }, "ok", "failed"),
	counts("cancels_total", "Requests to cancel a statement, by result.", "result",
		func(s report.State) map[string]int64 { return s.Sessions.Cancels }, "passed", "failed", "dropped"),
	counts("relayed_bytes_total", "Bytes between clients and upstream, by direction; answers are among them.",
		"direction", func(s report.State) map[string]int64 { return s.Sessions.Relayed }, "to_upstream", "to_client"),
	{
		"database_answerable",
		"1 if sessions of the database get this from memory; qualified are calls with the function's own schema.",
		gauge,
		[]string{"database", "kind"},
		func(s report.State, put put) {
			for _, d := range s.Databases {
				put(is(d.IDs == "all"), d.Name, "ids")
				put(is(d.IDs == "all" || d.IDs == "qualified"), d.Name, "ids_qualified")
				put(is(d.Segments == "all"), d.Name, "segments")
				put(is(d.Segments == "all" || d.Segments == "qualified"), d.Name, "segments_qualified")
			}
		},
	},
	segments("segment_remaining", "Numbers of a tag that are in memory.", gauge,
		func(s report.Segment) int64 { return s.Left }),
	segments("segment_fetches_total", "Blocks of numbers fetched for a tag.", counter,
		func(s report.Segment) int64 { return s.Fetches }),
	segments("segment_skipped_total", "Numbers of a tag that nobody gets any more.", counter,
		func(s report.Segment) int64 { return s.Skipped }),
	{
		"tls_certificate_expiry_timestamp_seconds", "When the certificate in a file expires.",
		gauge,
		[]string{"file"},
		func(s report.State, put put) {
			for _, c := range s.Certificates {
				put(seconds(c.Until), c.File)
			}
		},
	},
	{
		"log_lines_lost_total", "Lines of the log that were lost, since its reader was too slow.",
		counter, nil, func(s report.State, put put) { put(float64(s.LinesLost)) },
	},
	moment("config_reload_success_timestamp_seconds", "When the configuration was read without an error the last time.",
		func(s report.State) time.Time { return s.Reloaded }),
}

var histograms = []durations{
	{
		"id_wait_seconds", "How long answers waited for their IDs.", false,
		func(s report.State) histogram.Snapshot { return s.Answers.Waits },
	},
	{
		"lease_renewal_duration_seconds", "How long PostgreSQL took to acknowledge a renewal.", false,
		func(s report.State) histogram.Snapshot { return s.Lease.RenewalDurations },
	},
	{
		"login_duration_seconds", "From a client's connection to the end of its login.", false,
		func(s report.State) histogram.Snapshot { return s.Sessions.LoginsIn },
	},
	{
		"upstream_connect_duration_seconds", "How long a connection to the upstream took.", false,
		func(s report.State) histogram.Snapshot { return s.Upstreams.ConnectsIn },
	},
	{
		"id_database_login_duration_seconds",
		"From a client's startup packet to the end of its login to the ID database.",
		true, func(s report.State) histogram.Snapshot { return s.IDDatabase.LoginsIn },
	},
}

// counts is a counter with one label. Its known label values exist from the start: rate() needs a zero to begin with.
func counts(name, help, label string, of func(report.State) map[string]int64, known ...string) family {
	return family{name, help, counter, []string{label}, func(s report.State, put put) { each(of(s), put, known...) }}
}

func each[N int | int64](by map[string]N, put put, known ...string) {
	for _, value := range known {
		put(float64(by[value]), value)
	}
	for _, value := range slices.Sorted(maps.Keys(by)) {
		if !slices.Contains(known, value) {
			put(float64(by[value]), value)
		}
	}
}

// moment is a time. It has no sample while the time is unknown.
func moment(name, help string, of func(report.State) time.Time) family {
	return family{name, help, gauge, nil, func(s report.State, put put) {
		if at := of(s); !at.IsZero() {
			put(seconds(at))
		}
	}}
}

func clock(name, help string, of func(report.Clock) time.Duration) family {
	return family{name, help, gauge, nil, func(s report.State, put put) {
		if s.Clock.Known {
			put(of(s.Clock).Seconds())
		}
	}}
}

func segments(name, help string, kind prometheus.ValueType, of func(report.Segment) int64) family {
	return family{name, help, kind, []string{"database", "tag"}, func(s report.State, put put) {
		for _, segment := range s.Segments {
			put(float64(of(segment)), segment.Database, segment.Tag)
		}
	}}
}

func is(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

package admin

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pgflurry/internal/report"
)

// A metric is one row of the table.
type metric struct {
	name   string
	kind   metricKind
	help   string
	labels string // their names, with blanks between them
	values []value
}

// A value is one sample of a metric, with the values of its labels.
type value struct {
	number    float64
	durations report.Snapshot // instead of number
	labels    []string
}

// A metricKind makes a sample.
type metricKind func(*prometheus.Desc, value) prometheus.Metric

func counter(as *prometheus.Desc, v value) prometheus.Metric {
	return prometheus.MustNewConstMetric(as, prometheus.CounterValue, v.number, v.labels...)
}

func gauge(as *prometheus.Desc, v value) prometheus.Metric {
	return prometheus.MustNewConstMetric(as, prometheus.GaugeValue, v.number, v.labels...)
}

func durations(as *prometheus.Desc, v value) prometheus.Metric {
	buckets := make(map[float64]uint64, len(v.durations.Bounds))
	for i, bound := range v.durations.Bounds {
		buckets[bound.Seconds()] = v.durations.Counts[i]
	}
	return prometheus.MustNewConstHistogram(as, v.durations.Count(), v.durations.Sum.Seconds(), buckets)
}

// table has all our metrics, in the order of docs/reference.md, with their values in a state. Each state has the same
// rows. An unknown value has no sample: alerts would take a zero for a measurement.
func table(s report.State) []metric {
	clock, hosts := s.Clock.Known, s.Upstreams.Hosts
	d, ids := s.IDDatabase, s.IDDatabase.Name != ""
	return []metric{
		row("build_info", gauge, "The program; always 1.", "version goversion", one(1, s.Version, runtime.Version())),
		row("worker_info", gauge,
			"The worker whose IDs are given; always 1, and absent while there is none.", "worker node namespace",
			when(s.Lease.Granted && s.Lease.Reserve > 0, one(1, fmt.Sprint(s.Lease.Worker), s.Name, s.Namespace.ID))),
		row("ids_total", counter, "IDs given from memory.", "", one(s.Answers.IDs)),
		row("answers_total", counter, "Statements answered from memory, by their form.", "kind",
			by(s.Answers.ByKind, "snowflake", "snowflakes", "segment")),
		row("declined_total", counter, "Statements that PostgreSQL got because no IDs were there for them, by reason.",
			"reason", by(s.Answers.Declined, "no_lease", "grant_ended", "tick_full", "not_answerable", "timeout")),
		row("ready", gauge, "1 if the probe at the path answers 200.", "path", verdicts(s)),
		row("lease_held", gauge, "1 while a worker is leased.", "", yes(s.Lease.Held)),
		row("lease_reserve_seconds", gauge,
			"How long IDs go on without PostgreSQL: to reserved_until, by the database's clock.", "",
			one(s.Lease.Reserve.Seconds())),
		row("lease_window_seconds", gauge, "How far ahead a renewal reserves when all is well (--window).", "",
			one(s.Lease.Window.Seconds())),
		row("lease_last_renewal_timestamp_seconds", gauge, "When PostgreSQL acknowledged the lease for the last time.",
			"", at(s.Lease.Renewed)),
		row("lease_renewals_total", counter, "Renewals of the lease, by result.", "result",
			by(s.Lease.Renewals, "ok", "unknown", "refused", "lost")),
		row("lease_acquisitions_total", counter, "Attempts to lease a worker, by result.", "result",
			by(s.Lease.Acquisitions, "ok", "unknown", "refused")),
		row("lease_writes_forgotten_total", counter,
			"How often a row proved that the database had lost acknowledged writes.", "", one(s.Lease.Forgotten)),
		row("new_server", gauge,
			"1 while the server of the lease database, or of a listed one, is not known: it may be a copy.", "",
			yes(len(newServers(s)) > 0)),
		row("clock_offset_seconds", gauge,
			"How far this machine's clock is ahead of the database's. No ID depends on it.", "",
			when(clock, one(s.Clock.Offset.Seconds()))),
		row("clock_ahead_seconds", gauge, "How far IDs are ahead of the database's clock.", "",
			when(clock, one(s.Clock.Ahead.Seconds()))),
		row("clock_round_trip_seconds", gauge, "How long the last renewal took.", "",
			when(clock, one(s.Clock.RoundTrip.Seconds()))),
		row("function_ahead_seconds", gauge,
			"How far IDs of the function in the lease database are ahead of its clock; as last read.", "",
			when(!s.Workers.Read.IsZero(), one(s.Workers.FunctionAhead.Seconds()))),
		row("layout_end_timestamp_seconds", gauge, "When the timestamps of the layout end. No ID is given after it.",
			"", at(s.Namespace.End)),
		row("workers", gauge, "Workers of proxies in the worker table, by state; as last read.", "state",
			when(!s.Workers.Read.IsZero(), by(s.Workers.Counts, "held", "resting", "free", "retired"))),
		row("sessions", gauge, "Connections of clients, by what they do.", "state",
			by(s.Sessions.Open, "login", "idle", "in_transaction", "failed")),
		row("sessions_limit", gauge, "How many sessions may be open at once; 0 is no limit.", "",
			one(s.Sessions.Limit)),
		row("sessions_closed_total", counter, "Sessions that ended, by reason.", "reason", by(s.Sessions.Closed,
			"client", "demoted", "drain", "fault", "limit", "protocol", "refused", "timeout", "upstream")),
		row("logins_total", counter, "Logins of clients, by result.", "result",
			by(s.Sessions.Logins, "ok", "refused", "failed")),
		row("upstream_connects_total", counter, "Connections to the upstream, by result.", "result",
			by(s.Upstreams.Connects, "ok", "failed")),
		row("cancels_total", counter, "Requests to cancel a statement, by result.", "result",
			by(s.Sessions.Cancels, "passed", "failed", "dropped")),
		row("relayed_bytes_total", counter, "Bytes between clients and upstream, by direction; answers are among them.",
			"direction", by(s.Sessions.Relayed, "to_upstream", "to_client")),
		row("database_answerable", gauge,
			"1 if sessions of the database get this from memory; qualified are calls with the function's own schema.",
			"database kind", each(s.Databases, answerable)),
		row("database_worker_conflict", gauge,
			"1 if the function of the database has a worker that may be a proxy's: IDs may come twice.", "database",
			each(s.Databases, func(d report.Database) []value { return yes(d.WorkerConflict, d.Name) })),
		row("segment_remaining", gauge, "Numbers of a tag that are in memory.", "database tag",
			each(s.Segments, func(g report.Segment) []value { return one(g.Left, g.Database, g.Tag) })),
		row("segment_fetches_total", counter, "Blocks of numbers fetched for a tag.", "database tag",
			each(s.Segments, func(g report.Segment) []value { return one(g.Fetches, g.Database, g.Tag) })),
		row("segment_skipped_total", counter, "Numbers of a tag that nobody gets any more.", "database tag",
			each(s.Segments, func(g report.Segment) []value { return one(g.Skipped, g.Database, g.Tag) })),
		row("tls_certificate_expiry_timestamp_seconds", gauge, "When the certificate in a file expires.", "file",
			each(s.Certificates, func(c report.Certificate) []value { return at(c.Until, c.File) })),
		row("log_lines_lost_total", counter, "Lines of the log that were lost, since its reader was too slow.", "",
			one(s.LinesLost)),
		row("config_reload_success_timestamp_seconds", gauge,
			"When the configuration was read without an error the last time.", "", at(s.Reloaded)),
		row("config_last_reload_successful", gauge, "0 if the configuration that was read last had an error.", "",
			yes(s.NotReloaded == "")),
		row("upstream_primary", gauge, "1 for the host of --upstream that is the primary, as far as is known; else 0.",
			"host", each(hosts, func(h report.UpstreamHost) []value { return yes(h.Primary, h.Name) })),
		row("upstream_answered_timestamp_seconds", gauge, "When the host last said whether it is the primary.", "host",
			each(hosts, func(h report.UpstreamHost) []value { return at(h.Heard, h.Name) })),
		row("upstream_primaries_total", counter, "Primaries that were found, one after the other.", "",
			when(hosts != nil, one(s.Upstreams.Found))),
		row("id_wait_seconds", durations, "How long answers waited for their IDs.", "", lasted(s.Answers.Waits)),
		row("lease_renewal_duration_seconds", durations, "How long PostgreSQL took to acknowledge a renewal.", "",
			lasted(s.Lease.RenewalDurations)),
		row("login_duration_seconds", durations, "From a client's connection to the end of its login.", "",
			lasted(s.Sessions.LoginsIn)),
		row("upstream_connect_duration_seconds", durations, "How long a connection to the upstream took.", "",
			lasted(s.Upstreams.ConnectsIn)),
		row("id_database_sessions", gauge, "Sessions of the ID database, by what they do.", "state",
			when(ids, by(d.Open, "login", "idle", "in_transaction", "failed"))),
		row("id_database_sessions_limit", gauge,
			"How many of them may be open at once (--max-id-sessions); 0 is no limit.", "",
			when(ids, one(d.Limit))),
		row("id_database_sessions_closed_total", counter, "Sessions of the ID database that ended, by reason.",
			"reason", when(ids, by(d.Closed, "client", "drain", "fault", "idle", "protocol", "removed"))),
		row("id_database_logins_total", counter, "Logins to the ID database, by result.", "result",
			when(ids, by(d.Logins, "ok", "password", "attempts", "limit", "unready", "refused", "left"))),
		row("id_database_answers_total", counter,
			"Statements of the ID database that gave IDs or numbers, by their form.", "kind",
			when(ids, by(d.ByKind, "snowflake", "snowflakes", "segment"))),
		row("id_database_refused_total", counter, "Statements of the ID database that ended in an error, by reason.",
			"reason", when(ids, by(d.Refused, "no_ids", "not_supported", "other"))),
		row("id_database_ids_total", counter, "IDs given in the ID database.", "", when(ids, one(d.IDs))),
		row("id_database_numbers_total", counter, "Numbers of tags given in the ID database.", "",
			when(ids, one(d.Numbers))),
		row("id_database_accounts", gauge, "Accounts that may log in to the ID database, as last read.", "",
			when(ids && !d.Accounts.Read.IsZero(), one(d.Accounts.Count))),
		row("id_database_accounts_read_timestamp_seconds", gauge, "When those accounts were read.", "",
			when(ids, at(d.Accounts.Read))),
		row("id_database_login_duration_seconds", durations,
			"From a client's startup packet to the end of its login to the ID database.", "",
			when(ids, lasted(d.LoginsIn))),
	}
}

func row(name string, kind metricKind, help, labels string, values []value) metric {
	return metric{name, kind, help, labels, values}
}

func one[N int | int64 | float64](n N, labels ...string) []value {
	return []value{{number: float64(n), labels: labels}}
}

func yes(is bool, labels ...string) []value {
	if is {
		return one(1, labels...)
	}
	return one(0, labels...)
}

// at is a time. While it is unknown it has no sample.
func at(t time.Time, labels ...string) []value {
	return when(!t.IsZero(), one(float64(t.UnixMilli())/1000, labels...))
}

func lasted(s report.Snapshot) []value { return []value{{durations: s}} }

// by has a sample for each value of a label. The known ones exist from the start: rate() needs a zero to begin with.
func by[N int | int64](counts map[string]N, known ...string) (values []value) {
	for _, label := range known {
		values = append(values, one(counts[label], label)...)
	}
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		if !slices.Contains(known, label) {
			values = append(values, one(counts[label], label)...)
		}
	}
	return values
}

func each[T any](all []T, of func(T) []value) (values []value) {
	for _, one := range all {
		values = append(values, of(one)...)
	}
	return values
}

func when(known bool, values []value) []value {
	if known {
		return values
	}
	return nil
}

// verdicts are those of the probes that a balancer may ask.
func verdicts(s report.State) []value {
	all := slices.Concat(yes(ready(s).OK, readyPath), yes(readyForIDs(s).OK, readyIDsPath))
	return slices.Concat(all, when(s.IDDatabase.Name != "", yes(readyForIDDatabase(s).OK, readyIDDatabasePath)))
}

func answerable(d report.Database) []value {
	return slices.Concat(
		yes(d.IDs == "all", d.Name, "ids"),
		yes(d.IDs == "all" || d.IDs == "qualified", d.Name, "ids_qualified"),
		yes(d.Segments == "all", d.Name, "segments"),
		yes(d.Segments == "all" || d.Segments == "qualified", d.Name, "segments_qualified"),
	)
}

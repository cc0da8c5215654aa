package rows

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Each guard of the statements, and the statement without it. The text must stand in the statement as often as times
// says.
var mutants = []struct {
	guard, statement, from, to string
	times                      int
}{
	{
		"acquire: only after the mark", "acquire",
		"w.reserved_until + CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.rest END <= ns.now",
		"true", 2,
	},
	{"acquire: quarantine of a worker that was not released", "acquire", "ELSE ns.rest END", "ELSE 0 END", 3},
	{"acquire: a new owner", "acquire", "SET owner = $2::uuid", "SET owner = coalesce(w.owner, $2::uuid)", 1},
	{"acquire: a higher term", "acquire", "term = w.term + 1", "term = greatest(w.term, 1)", 1},
	{"acquire: the mark is raised", "acquire", "+ ns.reserve, ns.end_of_time)", "+ 0, ns.end_of_time)", 1},
	{
		"acquire: the grant begins at the mark or later", "acquire", "ns.now AS granted_from",
		"ns.now - 1 AS granted_from", 1,
	},
	{
		"acquire: window capped", "acquire", "least($6::bigint, pgflurry.ticks_of(n.max_window)) AS reserve",
		"$6::bigint AS reserve", 1,
	},
	{"acquire: timeline gate, at once", "acquire", " AND NOT ns.moved", "", 1},
	{"acquire: timeline gate, for the quarantine", "acquire", " AND ns.acquire_after <= ns.now", "", 1},
	{
		"acquire: the gate is closed for others", "acquire",
		"acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine)\n", "acquire_after = n.acquire_after\n", 1,
	},
	{
		"acquire: the gate never opens earlier", "acquire",
		"acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine)\n",
		"acquire_after = ns.now + ns.quarantine\n", 1,
	},
	{
		"acquire: who knows of a longer window waits for longer at the gate", "acquire",
		"n.acquire_after + CASE WHEN n.acquire_after > 0 THEN known.lack ELSE 0 END AS acquire_after",
		"n.acquire_after AS acquire_after", 1,
	},
	{
		"acquire: … and for a worker that was not released", "acquire",
		"pgflurry.ticks_of(n.quarantine) + known.lack AS rest", "pgflurry.ticks_of(n.quarantine) AS rest", 1,
	},
	{
		"acquire: … the skew included", "acquire", "$9::bigint + 2 * pgflurry.ticks_of(n.skew)", "$9::bigint", 1,
	},
	{"acquire: nothing in a closed database", "acquire", "NOT ns.closed AND ", "", 1},
	{"acquire: nothing after a start of the server", "acquire", " AND ns.settled <= ns.now", "", 1},
	{
		"acquire: … to the tick", "acquire", "pgflurry.ticks(pg_postmaster_start_time()) + 1",
		"pgflurry.ticks(pg_postmaster_start_time())", 1,
	},
	{
		"acquire: … unless nothing can be forgotten", "acquire", "n.born = pg_postmaster_start_time()",
		"n.born IS NOT NULL", 1,
	},
	{
		"acquire: … for as long as the namespace says", "acquire",
		"coalesce(pgflurry.ticks_of(n.restart_quarantine),",
		"coalesce(NULL,", 1,
	},
	{
		"acquire: … or the longest window lasts", "acquire",
		"greatest(pgflurry.ticks_of(n.max_window), $9::bigint)",
		"pgflurry.ticks_of(n.max_window)", 1,
	},
	{
		"acquire: … the skew included", "acquire", "$9::bigint) + 2 * pgflurry.ticks_of(n.skew)",
		"$9::bigint) + pgflurry.ticks_of(n.skew)", 1,
	},
	{"acquire: no copy", "acquire", " AND NOT ns.copied", "", 1},
	{"acquire: no database without worker rows", "acquire", " AND ns.home IS NULL", "", 1},
	{"acquire: the right namespace", "acquire", "WHERE ns.matches AND ns.home", "WHERE true AND ns.home", 1},
	{"acquire: no retired worker", "acquire", "AND w.retired_at IS NULL", "", 2},
	{
		"acquire: no worker of another datacenter", "acquire",
		"AND w.retired_at IS NULL AND w.worker BETWEEN $7::integer AND $8::integer", "AND w.retired_at IS NULL", 1,
	},
	{"acquire: nothing after the end of time", "acquire", "      AND ns.now < ns.end_of_time\n", "", 1},
	{
		"acquire: own worker first", "acquire", "ORDER BY CASE WHEN w.node = $3::text THEN 0",
		"ORDER BY CASE WHEN w.node = $3::text THEN 2", 1,
	},
	{"renew: owner", "renew", "AND w.owner = $3::uuid AND w.term = $4::bigint\n", "AND w.term = $4::bigint\n", 1},
	{"renew: term", "renew", "AND w.owner = $3::uuid AND w.term = $4::bigint\n", "AND w.owner = $3::uuid\n", 1},
	{"renew: not released", "renew", "AND w.released_at IS NULL AND", "AND", 1},
	{"renew: not retired", "renew", " AND w.retired_at IS NULL\n", "\n", 1},
	{"renew: no commit was lost", "renew", "AND w.reserved_until >= $5::bigint\n", "AND $5::bigint IS NOT NULL\n", 1},
	{"renew: not after others might have had it", "renew", "      AND w.reserved_until + ns.grace > ns.now\n", "", 1},
	{
		"renew: … less the skew", "renew", "pgflurry.ticks_of(n.quarantine) - pgflurry.ticks_of(n.skew) AS grace",
		"pgflurry.ticks_of(n.quarantine) AS grace", 1,
	},
	{
		"renew: … to the tick", "renew", "w.reserved_until + ns.grace > ns.now\n",
		"w.reserved_until + ns.grace >= ns.now\n", 1,
	},
	{
		"renew: the mark never falls", "renew", "SET reserved_until = greatest(w.reserved_until, least(",
		"SET reserved_until = greatest(0, least(", 1,
	},
	{"renew: cap", "renew", "greatest(ns.now + ns.reach,", "greatest($6::bigint,", 1},
	{
		"renew: cap of a mark that is far ahead", "renew", "w.reserved_until + greatest(0, ns.now",
		"w.reserved_until + greatest(1000000, ns.now", 1,
	},
	{
		"renew: the right namespace, and no copy", "renew", "WHERE ns.matches AND NOT ns.closed\n      AND w.worker",
		"WHERE NOT ns.closed\n      AND w.worker", 1,
	},
	{"renew: nothing in a closed database", "renew", " AND NOT ns.closed\n", "\n", 1},
	{
		"renew: not after another server might have granted it", "renew",
		"      AND (w.renewed_at < ns.started AND pgflurry.ticks(w.renewed_at) + ns.settling <= ns.now) IS NOT TRUE\n",
		"", 1,
	},
	{"renew: … unless nothing can be forgotten", "renew", "n.born = pg_postmaster_start_time()", "false", 1},
	{"renew: … or it was renewed since", "renew", "w.renewed_at < ns.started AND", "ns.started IS NOT NULL AND", 2},
	{"renew: … for a quarantine at most", "renew", "least(pgflurry.ticks_of(n.quarantine),\n", "least(NULL,\n", 1},
	{
		"renew: … as long as the namespace says", "renew", "coalesce(pgflurry.ticks_of(n.restart_quarantine),",
		"coalesce(NULL,", 1,
	},
	{"renew: a term that went back is a witness", "renew", "(w.term < $4::bigint OR", "(false OR", 1},
	{"renew: another owner of the same term is a witness", "renew", "w.owner <> $3::uuid OR", "false OR", 1},
	{
		"renew: another owner of a later term is none", "renew",
		"w.term = $4::bigint AND w.owner <> $3::uuid OR",
		"w.owner <> $3::uuid OR", 1,
	},
	{"renew: a mark that went back is a witness", "renew", "OR w.reserved_until < $5::bigint)", ")", 1},
	{"renew: a witness closes the gate", "renew", "ns.now + ns.quarantine), joins", "0), joins", 1},
	{"renew: … and makes the joins unknown", "renew", ", joins_complete_on = NULL", "", 1},
	{
		"renew: … in the right database", "renew", "WHERE ns.matches AND w.worker = $2::integer\n",
		"WHERE w.worker = $2::integer\n", 1,
	},
	{"renew: a failover closes the gate", "renew", "WHERE ns.matches AND ns.moved", "WHERE false", 1},
	{"release: owner", "release", "AND w.owner = $3::uuid AND", "AND $3::uuid IS NOT NULL AND", 1},
	{"release: term", "release", " AND w.term = $4::bigint", " AND $4::bigint IS NOT NULL", 1},
	{
		"release: the acknowledged mark comes back", "release", "greatest(w.reserved_until, $5::bigint)",
		"greatest(w.reserved_until, $5::bigint * 0)", 1,
	},
	{"release: a term that went back is a witness", "release", "(w.term < $4::bigint OR", "(false OR", 1},
	{"release: another owner of the same term is a witness", "release", "w.owner <> $3::uuid OR", "false OR", 1},
	{"release: a mark that went back is a witness", "release", "OR w.reserved_until < $5::bigint)", ")", 1},
	{
		"release: a witness closes the gate", "release",
		"pgflurry.ticks(clock_timestamp()) + pgflurry.ticks_of(n.quarantine))",
		"0)", 1,
	},
	{"release: … and makes the joins unknown", "release", ",\n        joins_complete_on = NULL", "", 1},
	{"release: … in the right database", "release", " AND pgflurry.is_original()", "", 1},
	{"release: … that has the rows", "release", " AND n.home IS NULL", "", 1},
	{"reseed: marks are raised", "reseed", "greatest(w.reserved_until, ns.mark)", "w.reserved_until", 1},
	{"reseed: leases end", "reseed", "term = CASE WHEN w.term > 0 THEN w.term + 1 ELSE 0 END", "term = w.term", 1},
	{
		"reseed: the place changes", "reseed", "generation = pgflurry.next_generation(n.generation)",
		"generation = n.generation", 1,
	},
	{
		"reseed: the joins are unknown", "reseed", "joins_complete_on = NULL",
		"joins_complete_on = n.joins_complete_on", 1,
	},
	{"reseed: the gate closes", "reseed", "greatest(n.acquire_after, ns.opens)", "n.acquire_after", 1},
	{
		"quarantine: who is past his mark has lost his lease", "quarantine",
		"        released_at = clock_timestamp()\n", "        released_at = NULL\n", 1,
	},
	{
		"quarantine: … and his worker rests as long as before", "quarantine",
		"w.reserved_until + ns.former, ns.end_of_time", "w.reserved_until, ns.end_of_time", 1,
	},
	{"quarantine: who holds a worker keeps it", "quarantine", "      AND w.reserved_until <= ns.now\n", "", 1},
	{
		"quarantine: the gate stays closed for longer", "quarantine",
		"n.acquire_after + pgflurry.ticks_of(ns.quarantine) - ns.former)", "0)", 1,
	},
	{
		"quarantine: the gate never opens earlier", "quarantine",
		"greatest(n.acquire_after, n.acquire_after + pgflurry.ticks_of(ns.quarantine) - ns.former)",
		"n.acquire_after + pgflurry.ticks_of(ns.quarantine) - ns.former", 1,
	},
	{"long grants: not while the gate is closed", "long_grants", "n.acquire_after > now.tick", "false", 1},
	{
		"long grants: nor after a failover that nobody has seen", "long_grants", "wal_timeline() IS NOT NULL",
		"wal_timeline() IS NULL", 1,
	},
	{"long grants: nor while a row has one", "long_grants", "AND w.released_at IS NULL", "AND false", 1},
	{"retire: not while it is held", "retire", "AND ($2::boolean OR", "AND (NOT $2::boolean OR $2::boolean OR", 1},
}

func TestTheComparisonNoticesEachGuardThatIsLeftOut(t *testing.T) {
	r := newRoom(t, time.Millisecond, usual)
	original := map[string]string{}
	for name, text := range r.statements {
		original[name] = text
	}
	var report strings.Builder
	for _, m := range mutants {
		from, to := staged.Replace(m.from), staged.Replace(m.to)
		if n := strings.Count(original[m.statement], from); n != m.times {
			t.Errorf("%s: %q stands %d times in %s.sql, expected %d: the mutant no longer fits",
				m.guard, m.from, n, m.statement, m.times)
			continue
		}
		r.statements[m.statement] = strings.ReplaceAll(original[m.statement], from, to)
		begin := time.Now()
		tried, what := r.untilDifferent(m.statement, 4000)
		r.statements[m.statement] = original[m.statement]
		if what == "" {
			t.Errorf("%s: no difference in %d cases", m.guard, tried)
		}
		fmt.Fprintf(&report, "\n%-55s %5d cases %7d ms", m.guard, tried, time.Since(begin).Milliseconds())
	}
	t.Logf("each guard left out, and how soon it was noticed:%s", report.String())
}

// untilDifferent tries up to n cases.
func (r *room) untilDifferent(statement string, most int) (tried int, what string) {
	cases := rapid.Custom(func(t *rapid.T) string { return r.compare(t, statement) })
	for tried = 1; tried <= most && what == ""; tried++ {
		what = cases.Example(tried)
	}
	return tried - 1, what
}

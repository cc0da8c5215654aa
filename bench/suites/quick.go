package suites

import (
	"fmt"
	"slices"
	"strings"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
)

// QuickSources are the default sources of a quick look. If servers are given, it has only their sources.
func QuickSources(given servers.Servers) []string {
	keys := []string{"snowflake-proxy", "snowflake-function", "nextval", "uuidv7", redisIncr.key}
	if given.Postgres.URL == "" {
		return keys
	}
	keys = append(keys, "snowflake-id-database", "nextval-pgbouncer")
	return slices.DeleteFunc(keys, func(key string) bool {
		at := slices.IndexFunc(oneAtATime, func(c contender) bool { return c.key == key })
		return oneAtATime[at].from.of(given).URL == ""
	})
}

// subjects are the possible subjects of a summary. The first that was measured is the subject.
var subjects = []struct{ contender, called string }{
	{proxied, "the proxy"}, {unbacked, "the ID database"}, {inDatabase, "the function in the database"},
}

// Summary compares the proxy with nextval in one sentence, at the greatest number of clients.
func Summary(figures []report.Figure) string {
	for _, subject := range subjects {
		for _, f := range slices.Backward(figures) {
			if to, compared := f.Ratios[report.Nextval]; compared && f.Contender == subject.contender &&
				!strings.Contains(f.Task, report.OpenLoop) {
				return summary(subject.called, to, f.CPURatios[report.Nextval])
			}
		}
	}
	return "Nothing can be compared: it takes nextval, and next_snowflake beside it, each with a turn."
}

// summary compares a subject with nextval by the ratios of speed and of processor time. The latter may not have been
// measured.
func summary(subject string, speed, cpu report.Spread) string {
	said := strings.ToUpper(subject[:1]) + subject[1:] + times(speed,
		" gave as many IDs a second as nextval, within the spread",
		" gave %.2f of the IDs a second that nextval gave", " gave %.2f times as many IDs a second as nextval")
	if cpu.N > 0 {
		said += times(cpu, ", each for the same processor time", ", each for %.2f of the processor time",
			", each for %.2f times the processor time")
	}
	if speed.N == 1 {
		return said + " (one round: a look, not a measurement)."
	}
	return said + fmt.Sprintf(" (%d rounds, quartiles %.2f – %.2f).", speed.N, speed.Low, speed.High)
}

// times says a ratio. It may as well be 1 if its quartiles are on both sides.
func times(ratio report.Spread, same, less, more string) string {
	switch {
	case ratio.N > 1 && ratio.Low <= 1 && ratio.High >= 1:
		return same
	case ratio.Median < 1:
		return fmt.Sprintf(less, ratio.Median)
	}
	return fmt.Sprintf(more, ratio.Median)
}

package suites

import (
	"slices"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
)

func TestTheSummaryOfAQuickLookSaysNoMoreThanTheRounds(t *testing.T) {
	figure := func(contender string, speed, cpu []float64) report.Figure {
		of := func(values []float64) map[string]report.Spread {
			if len(values) == 0 {
				return nil
			}
			return map[string]report.Spread{report.Nextval: report.SpreadOf(values)}
		}
		return report.Figure{Workload: "w", Contender: contender, Ratios: of(speed), CPURatios: of(cpu)}
	}
	const nothing = "Nothing can be compared: it takes nextval, and next_snowflake beside it, each with a turn."
	nextval := report.Figure{Workload: "w", Contender: report.Nextval}
	for want, figures := range map[string][]report.Figure{
		"The proxy gave 2.10 times as many IDs a second as nextval, each for 0.40 of the processor time " +
			"(3 rounds, quartiles 2.00 – 2.15).": {
			nextval, figure(proxied, []float64{1.9, 2.1, 2.2}, []float64{0.3, 0.4, 0.5}),
		},
		"The proxy gave 2.10 times as many IDs a second as nextval, each for 0.40 of the processor time " +
			"(one round: a look, not a measurement).": {nextval, figure(proxied, []float64{2.1}, []float64{0.4})},
		"The proxy gave as many IDs a second as nextval, within the spread, each for the same processor time " +
			"(3 rounds, quartiles 0.95 – 1.15).": {
			nextval, figure(proxied, []float64{0.8, 1.1, 1.2}, []float64{0.9, 1, 1.1}),
			figure(inDatabase, []float64{9, 9}, nil),
		},
		"The ID database gave 0.50 of the IDs a second that nextval gave (2 rounds, quartiles 0.45 – 0.55).": {
			figure(inDatabase, []float64{9, 9}, nil), figure(unbacked, []float64{0.4, 0.6}, nil), nextval,
		},
		"The function in the database gave 3.00 times as many IDs a second as nextval, each for 2.00 times the " +
			"processor time (2 rounds, quartiles 3.00 – 3.00).": {
			nextval, figure(inDatabase, []float64{3, 3}, []float64{2, 2}),
		},
		nothing: {
			figure(proxied, nil, nil),
			{Workload: "w", Contender: "UUID v7", Ratios: figure("", []float64{1}, nil).Ratios},
		},
	} {
		if got := Summary(figures); got != want {
			t.Errorf("it says\n%q\ninstead of\n%q", got, want)
		}
	}
	more := figure(proxied, []float64{7}, nil)
	more.Workload = "w of more clients"
	if got := Summary([]report.Figure{figure(proxied, []float64{2}, nil), more}); !strings.Contains(got, "7.00") {
		t.Errorf("of two numbers of clients it takes the first: %s", got)
	}
}

func TestAQuickLookHasASourceOfEachServerThatIsGiven(t *testing.T) {
	on := func(url string) servers.Server { return servers.Server{URL: url} }
	for _, c := range []struct {
		given servers.Servers
		want  []string
	}{
		{servers.Servers{}, []string{"snowflake-proxy", "snowflake-function", "nextval", "uuidv7", "redis-incr"}},
		{servers.Servers{Postgres: on("p")}, []string{"snowflake-function", "nextval", "uuidv7"}},
		{
			servers.Servers{Postgres: on("p"), IDDatabase: on("i"), Pooler: on("b")},
			[]string{"snowflake-function", "nextval", "uuidv7", "snowflake-id-database", "nextval-pgbouncer"},
		},
	} {
		if got := QuickSources(c.given); !slices.Equal(got, c.want) {
			t.Errorf("%+v has %v; expected %v", c.given, got, c.want)
		}
	}
}

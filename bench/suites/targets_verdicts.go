package suites

import (
	"slices"
	"strings"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
)

// Targets of IDs by number of clients: of the proxy, and the function in the database.
var (
	singleToNextval   = map[int]float64{1: 1.3, 16: 2, 64: 2}
	functionToNextval = map[int]float64{1: 0.95, 16: 0.95} // other numbers: 0.9
)

const (
	coldToNextval      = 0.4
	pipelinedToNextval = 5.0
	cpuToRedis         = 0.95
	singleToLimit      = 0.95
	batchOfLayout      = 0.9
	insertsToFloor     = 0.95
	bulkTimesOfNextval = 3.1
	writesPerIdleThird = 1.1    // a renewal comes after a third of the window, plus or minus a tenth of that
	layoutRate         = 4096e3 // IDs a second of one worker, in the default layout
)

// TargetVerdicts says which targets are reached, of those that were measured: first of the proxy, then of the function
// in the database.
func TargetVerdicts(figures []report.Figure) (all []report.Verdict) {
	place := func(f report.Figure) int {
		switch {
		case f.Task == idle:
			return 2
		case f.Contender == inDatabase:
			return 1
		}
		return 0
	}
	for _, f := range slices.SortedStableFunc(slices.Values(figures), func(a, b report.Figure) int {
		return place(a) - place(b)
	}) {
		if v, has := verdictOf(f); has {
			all = append(all, v)
		}
		if toLimit, has := f.Ratios[report.Limit]; has && f.Contender == proxied && isSingle(f) {
			all = append(all, report.AtLeast(f.Workload+": proxy to the least, in C", toLimit, singleToLimit))
		}
	}
	return all
}

func isSingle(f report.Figure) bool { return f.Task == singlePrepared || f.Task == singleSimple }

func verdictOf(f report.Figure) (report.Verdict, bool) {
	toNextval, compared := f.Ratios[report.Nextval]
	toFloor, hasFloor := f.Ratios[report.Floor]
	single := isSingle(f)
	switch {
	case f.Contender == proxied && single:
		target, has := singleToNextval[f.Clients]
		return report.AtLeast(f.Workload+": proxy to `nextval`", toNextval, target), has && compared
	case f.Task == cold && f.Contender == inDatabase:
		return report.AtLeast(f.Workload+": function in the database to `nextval`", toNextval, coldToNextval), compared
	case f.Task == cold:
		return report.Verdict{}, false
	case f.Contender == proxied:
		return report.AtLeast(f.Workload+": proxy to `nextval`", toNextval, pipelinedToNextval), compared
	case f.Task == fixedBytes:
		spent, measured := f.CPURatios[report.Redis]
		_, ask, _ := strings.Cut(f.Contender, ": ")
		return report.AtMost("processor time of the server for one ID: proxy ("+ask+") to Redis `INCR`", spent,
			cpuToRedis), measured
	case f.Contender == inBatches:
		return report.AtLeast(f.Workload+": proxy to the 4,096,000 a second of the layout",
			f.PerSecond.Times(1/layoutRate), batchOfLayout), true
	case f.Contender == inDatabase && single:
		return report.AtLeast(f.Workload+": function in the database to `nextval`", toNextval,
			max(functionToNextval[f.Clients], 0.9)), compared
	case f.Contender == inDatabase && f.Task == inserted:
		return report.AtLeast(f.Workload+": `DEFAULT next_snowflake()` to that of an empty function", toFloor,
			insertsToFloor), hasFloor
	case f.Contender == inDatabase && f.Task == bulk:
		return report.AtMost(f.Workload+": time of the function in the database to that of `nextval`",
			toNextval.Inverse(), bulkTimesOfNextval), compared
	case f.Task == idle:
		return report.AtMost("a proxy without clients: writes in a third of its window",
			f.PerSecond.Times((servers.IdleWindow / 3).Seconds()), writesPerIdleThird), true
	}
	return report.Verdict{}, false
}

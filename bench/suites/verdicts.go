package suites

import (
	"fmt"
	"strings"

	"pgflurry/bench/report"
)

// Targets of IDs by number of clients: of the proxy, and the function in the database.
var (
	singleToNextval   = map[int]float64{1: 1.3, 16: 2, 64: 2}
	functionToNextval = map[int]float64{1: 0.95, 16: 0.95, 64: 0.9}
)

// Further targets. The first word is the task, then who is compared with whom.
const (
	coldToNextval      = 0.4
	pipelinedToNextval = 5.0
	cpuToRedis         = 1.0
	cpuToLeast         = 1.5
	batchOfLayout      = 0.9
	insertsToFloor     = 0.95
	bulkTimesOfNextval = 3.1
	layoutRate         = 4096e3 // IDs a second of one worker, in the default layout
	meanToPgBouncer    = 1.0
	lowestToPgBouncer  = 0.95
	meanToHAProxy      = 0.95
	pipelinedToDirect  = 0.85
	copyToDirect       = 0.9
)

// idVerdicts says which targets of IDs are reached, of those that were measured.
func idVerdicts(figures []report.Figure) (all []report.Verdict) {
	for _, f := range figures {
		single := f.Task == singlePrepared || f.Task == singleSimple
		toNextval, compared := f.Ratios[report.Nextval]
		toFloor, hasFloor := f.Ratios[report.Floor]
		toRedis, hasRedis := f.CPURatios[report.Redis]
		toLeast, hasLeast := f.CPURatios[report.Least]
		judge := func(is bool, v report.Verdict) {
			if is {
				v.Claim = f.Workload + ": " + v.Claim
				all = append(all, v)
			}
		}
		switch f.Contender {
		case proxied:
			target, has := singleToNextval[f.Clients]
			judge(single && compared && has, report.AtLeast("proxy to `nextval`", toNextval, target))
			judge(f.Task == pipelinedPrepared && compared,
				report.AtLeast("proxy to `nextval`", toNextval, pipelinedToNextval))
			judge(f.Task == singlePrepared && f.Clients == 1 && hasRedis,
				report.AtMost("processor time, proxy to Redis `INCR`", toRedis, cpuToRedis))
			judge(single && hasLeast, report.AtMost("processor time, proxy to the least, in C", toLeast, cpuToLeast))
		case inBatches:
			judge(f.Clients == 1, report.AtLeast("proxy to the 4,096,000 a second of the layout",
				f.PerSecond.Times(1/layoutRate), batchOfLayout))
		case inDatabase:
			target, has := functionToNextval[f.Clients]
			judge(f.Task == singlePrepared && compared && has,
				report.AtLeast("function to `nextval`", toNextval, target))
			judge(f.Task == cold && compared, report.AtLeast("function to `nextval`", toNextval, coldToNextval))
			judge(f.Task == inserted && hasFloor && has,
				report.AtLeast("`DEFAULT next_snowflake()` to that of an empty function", toFloor, insertsToFloor))
			judge(f.Task == bulk && compared,
				report.AtMost("time of the function to that of `nextval`", toNextval.Inverse(), bulkTimesOfNextval))
		}
	}
	return all
}

// passThroughVerdicts says which targets of statements that are passed on are reached.
func passThroughVerdicts(figures []report.Figure) (all []report.Verdict) {
	var toPgBouncer, toHAProxy []float64
	var lowest report.Spread
	where := ""
	for _, f := range figures {
		if f.Contender != Pgflurry {
			continue
		}
		selects := strings.HasPrefix(f.Task, "`SELECT 1`, ")
		if r, is := f.Ratios[report.PgBouncer]; is && selects {
			if toPgBouncer = append(toPgBouncer, r.Median); where == "" || r.Median < lowest.Median {
				lowest, where = r, f.Workload
			}
		}
		if r, is := f.Ratios[report.HAProxy]; is && selects {
			toHAProxy = append(toHAProxy, r.Median)
		}
		if r, is := f.Ratios[report.Direct]; is && !selects {
			target := copyToDirect
			if strings.Contains(f.Task, "pipelined") {
				target = pipelinedToDirect
			}
			all = append(all, report.AtLeast(f.Workload+": pgflurry to direct", r, target))
		}
	}
	mean := func(of string, cells []float64, target float64) {
		if len(cells) > 0 {
			all = append(all, report.Verdict{
				Claim:  fmt.Sprintf("`SELECT 1`: geometric mean of pgflurry to %s, %d cells", of, len(cells)),
				Figure: report.GeometricMean(cells), Target: target,
			})
		}
	}
	mean("PgBouncer", toPgBouncer, meanToPgBouncer)
	mean("HAProxy", toHAProxy, meanToHAProxy)
	if where != "" {
		all = append(all, report.AtLeast("the lowest to PgBouncer: "+where, lowest, lowestToPgBouncer))
	}
	return all
}

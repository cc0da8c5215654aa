package suites

import (
	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

// Targets of the ID database, and of the proxy.
const (
	besideMilliseconds = 20.0 // p99 of one client, whatever the others draw
	memoryKiB          = 16.0 // of a connection without TLS
)

// ConnectionVerdicts says which targets of the ID database and of the proxy are reached, of those that were measured.
func ConnectionVerdicts(_ []trial.Trial, figures []report.Figure) (all []report.Verdict) {
	for _, f := range figures {
		path, ours := map[string]string{proxied: "proxy", unbacked: "ID database"}[f.Contender]
		if !ours {
			continue
		}
		if f.Memory != nil && f.Contender == unbacked {
			all = append(all, report.AtMost("KiB of memory of a connection to the ID database",
				f.Memory.Times(1.0/1024), memoryKiB))
		}
		if p99, measured := f.Latency["p99"]; measured && f.Task == besideMany {
			all = append(all, report.AtMost(path+": p99 in ms, "+f.Workload, p99.Times(1e-3), besideMilliseconds))
		}
	}
	return all
}

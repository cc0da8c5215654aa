package report

import "pgflurry/bench/trial"

// ratios are the throughputs of one contender divided by those of another at the same workload, round by round. A round
// counts only if both have finished it.
func ratios(samples []trial.Sample, workload, contender, to string) []float64 {
	return ratiosOf(samples, workload, contender, to, func(s trial.Sample) (float64, bool) {
		return s.PerSecond(), true
	})
}

// cpuRatios are the same for processor time of an operation, by the servers, or by this process if there is no server.
// A round without a measurement does not count, nor does one in which the other's time was too short to be seen.
func cpuRatios(samples []trial.Sample, workload, contender, to string) []float64 {
	return ratiosOf(samples, workload, contender, to, func(s trial.Sample) (float64, bool) {
		if each, measured := s.ServerCPUEach(); measured {
			return each, true
		}
		return s.CPUEach(trial.Self)
	})
}

func ratiosOf(
	samples []trial.Sample, workload, contender, to string, of func(trial.Sample) (float64, bool),
) (all []float64) {
	base := make(map[int]float64)
	for _, s := range samples {
		if s.Workload == workload && s.Contender == to {
			base[s.Round], _ = of(s)
		}
	}
	for _, s := range samples {
		if s.Workload != workload || s.Contender != contender {
			continue
		}
		if a, measured := of(s); measured && base[s.Round] > 0 {
			all = append(all, a/base[s.Round])
		}
	}
	return all
}

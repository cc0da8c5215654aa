package report

import "pgflurry/bench/trial"

// ratios are the throughputs of one contender divided by those of another at the same workload, round by round. Rounds
// that one of them has not finished give none.
func ratios(samples []trial.Sample, workload, contender, to string) []float64 {
	return ratiosOf(samples, workload, contender, to, func(s trial.Sample) (float64, bool) {
		return s.PerSecond(), true
	})
}

// cpuRatios are the same of the processor time that the servers spent on an operation, or this process where no server
// was asked. Rounds in which it was not measured give none, nor do those in which the other's was too short to be seen.
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

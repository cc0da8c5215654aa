package bench

import (
	"math"
	"slices"
)

// Spread is what a set of figures looks like: its median and its quartiles.
type Spread struct {
	Low    float64 `json:"quartile_1"`
	Median float64 `json:"median"`
	High   float64 `json:"quartile_3"`
	N      int     `json:"n"`
}

// SpreadOf takes the quartiles by linear interpolation between the nearest figures. Without figures it is the zero Spread.
func SpreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	at := func(q float64) float64 {
		place := q * float64(len(sorted)-1)
		below := int(place)
		above := min(below+1, len(sorted)-1)
		return sorted[below] + (place-float64(below))*(sorted[above]-sorted[below])
	}
	return Spread{Low: at(0.25), Median: at(0.5), High: at(0.75), N: len(sorted)}
}

// Times is the spread of the figures, each multiplied.
func (s Spread) Times(by float64) Spread {
	return Spread{Low: s.Low * by, Median: s.Median * by, High: s.High * by, N: s.N}
}

// Inverse is the spread of 1 over each figure.
func (s Spread) Inverse() Spread {
	return Spread{Low: 1 / s.High, Median: 1 / s.Median, High: 1 / s.Low, N: s.N}
}

// GeometricMean of figures above zero; 0 without figures.
func GeometricMean(figures []float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	sum := 0.0
	for _, f := range figures {
		sum += math.Log(f)
	}
	return math.Exp(sum / float64(len(figures)))
}

// Ratios are the throughputs of one contender divided by those of another at the same workload, round by round. Rounds that
// one of them has not finished give none.
func Ratios(samples []Sample, workload, contender, to string) []float64 {
	return ratios(samples, workload, contender, to, func(s Sample) (float64, bool) { return s.PerSecond(), true })
}

// CPURatios are the same of the processor time that the servers spent on an operation, or this process where no server was asked. Rounds in which it was not measured give none, nor
// do those in which the other's was too short to be seen.
func CPURatios(samples []Sample, workload, contender, to string) []float64 {
	return ratios(samples, workload, contender, to, func(s Sample) (float64, bool) {
		if each, measured := s.ServerCPUEach(); measured {
			return each, true
		}
		return s.CPUEach(Self)
	})
}

func ratios(samples []Sample, workload, contender, to string, of func(Sample) (float64, bool)) (all []float64) {
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

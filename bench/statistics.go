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
	base := make(map[int]float64)
	for _, s := range samples {
		if s.Workload == workload && s.Contender == to {
			base[s.Round] = s.PerSecond()
		}
	}
	var ratios []float64
	for _, s := range samples {
		if b, ok := base[s.Round]; ok && s.Workload == workload && s.Contender == contender {
			ratios = append(ratios, s.PerSecond()/b)
		}
	}
	return ratios
}

package report

import (
	"math"
	"slices"
)

// Spread is the median and the quartiles of a set of figures. For a single figure all three are equal and say nothing
// about the spread.
type Spread struct {
	Low    float64 `json:"quartile_1"`
	Median float64 `json:"median"`
	High   float64 `json:"quartile_3"`
	N      int     `json:"n"`
}

// SpreadOf computes quartiles by linear interpolation between the nearest figures. Without figures it returns the zero
// Spread.
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

// Times multiplies each figure.
func (s Spread) Times(by float64) Spread {
	return Spread{Low: s.Low * by, Median: s.Median * by, High: s.High * by, N: s.N}
}

// Inverse is the spread of the reciprocals.
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

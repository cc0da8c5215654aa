package statistics

import (
	"math"
	"slices"
	"testing"
)

func TestQuartilesAreInterpolated(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3, 1}},
		{[]float64{4, 1, 3, 2}, Spread{1.75, 2.5, 3.25, 4}},
		{[]float64{9, 1, 8, 2, 7, 3, 6, 4, 5}, Spread{3, 5, 7, 9}},
	} {
		if got := SpreadOf(c.of); got != c.want {
			t.Errorf("spread of %v is %+v; expected %+v", c.of, got, c.want)
		}
	}
	given := []float64{2, 1}
	SpreadOf(given)
	if !slices.Equal(given, []float64{2, 1}) {
		t.Error("the figures were put in order where they stood")
	}
	if got := GeometricMean([]float64{0.5, 2, 8}); math.Abs(got-2) > 1e-12 || GeometricMean(nil) != 0 {
		t.Errorf("geometric mean of 0.5, 2 and 8 is %v; expected 2", got)
	}
}

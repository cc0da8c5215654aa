package report

import (
	"fmt"
	"strings"

	"pgflurry/bench/statistics"
)

// Verdict is one claim with its figure.
type Verdict struct {
	Claim  string  `json:"claim"`
	Figure float64 `json:"figure"`
	// Quartiles are the first and the third over the rounds; nil if the figure is made of several, or of one round.
	Quartiles *[2]float64 `json:"quartiles,omitempty"`
	Target    float64     `json:"target"`            // the least value
	AtMost    bool        `json:"at_most,omitempty"` // the target is the greatest value instead
	// Beyond: the figure must be beyond the target, and both quartiles, too. Quartiles on both sides mean that the two
	// contenders do not differ.
	Beyond bool `json:"beyond,omitempty"`
}

// AtLeast is a claim about a figure with a spread over the rounds.
func AtLeast(claim string, s statistics.Spread, target float64) Verdict {
	v := Verdict{Claim: claim, Figure: s.Median, Target: target}
	if s.N != 1 {
		v.Quartiles = &[2]float64{s.Low, s.High}
	}
	return v
}

// AtMost is a claim that a figure is small.
func AtMost(claim string, s statistics.Spread, target float64) Verdict {
	v := AtLeast(claim, s, target)
	v.AtMost = true
	return v
}

// Faster claims that a ratio of two speeds is above 1, and not by chance.
func Faster(claim string, ratio statistics.Spread) Verdict {
	v := AtLeast(claim, ratio, 1)
	v.Beyond = true
	return v
}

// Holds says that the target is reached. One round cannot prove a claim with Beyond.
func (v Verdict) Holds() bool {
	if v.Beyond {
		return v.Quartiles != nil && v.Quartiles[0] > v.Target
	}
	if v.AtMost {
		return v.Figure <= v.Target
	}
	return v.Figure >= v.Target
}

func (v Verdict) word() string {
	switch {
	case v.Holds():
		return "reached"
	case v.Beyond && v.Quartiles == nil:
		return "not judged: one round"
	case v.Beyond && v.Quartiles[1] >= v.Target:
		return "equal"
	}
	return "missed"
}

func (v Verdict) figure() string {
	if v.Quartiles == nil {
		return fmt.Sprintf("%.2f", v.Figure)
	}
	return fmt.Sprintf("%.2f (%.2f – %.2f)", v.Figure, v.Quartiles[0], v.Quartiles[1])
}

func (v Verdict) target() string {
	switch {
	case v.Beyond:
		return fmt.Sprintf("> %.2f", v.Target)
	case v.AtMost:
		return fmt.Sprintf("≤ %.2f", v.Target)
	}
	return fmt.Sprintf("≥ %.2f", v.Target)
}

func writeVerdicts(b *strings.Builder, verdicts []Verdict) {
	if len(verdicts) == 0 {
		return
	}
	b.WriteString("| claim | figure | target | |\n|---|--:|--:|---|\n")
	for _, v := range verdicts {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", v.Claim, v.figure(), v.target(), v.word())
	}
}

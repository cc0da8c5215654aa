package report

import "fmt"

// Verdict is one claim with its figure.
type Verdict struct {
	Claim  string  `json:"claim"`
	Figure float64 `json:"figure"`
	// Quartiles are the first and the third over the rounds; nil if the figure is made of several, or of one round.
	Quartiles *[2]float64 `json:"quartiles,omitempty"`
	Target    float64     `json:"target"`            // the least value
	AtMost    bool        `json:"at_most,omitempty"` // the target is the greatest value instead
}

// AtLeast is a claim about a figure with a spread over the rounds.
func AtLeast(claim string, s Spread, target float64) Verdict {
	v := Verdict{Claim: claim, Figure: s.Median, Target: target}
	if s.N != 1 {
		v.Quartiles = &[2]float64{s.Low, s.High}
	}
	return v
}

// AtMost is a claim that a figure is small.
func AtMost(claim string, s Spread, target float64) Verdict {
	v := AtLeast(claim, s, target)
	v.AtMost = true
	return v
}

// Holds says that the target is reached.
func (v Verdict) Holds() bool {
	if v.AtMost {
		return v.Figure <= v.Target
	}
	return v.Figure >= v.Target
}

func (v Verdict) word() string {
	if v.Holds() {
		return "reached"
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
	if v.AtMost {
		return fmt.Sprintf("≤ %.2f", v.Target)
	}
	return fmt.Sprintf("≥ %.2f", v.Target)
}

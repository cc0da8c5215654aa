package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pgflurry/tests/support/meter"
)

// Report is what the clients saw.
type Report struct {
	Seconds  float64          `json:"seconds"`
	IDs      int64            `json:"ids"`
	ByClient map[string]int64 `json:"idsByClient"`
	Repeated []int64          `json:"idsTwice,omitempty"` // duplicates, at most 100,000
	Commits  meter.Counts     `json:"commits"`
	Faults   meter.Report     `json:"faults"`
}

// Report sums up. Stop does the last comparison of commits.
func (l *Load) Report() Report {
	ended := l.ended
	if ended.IsZero() {
		ended = time.Now()
	}
	r := Report{
		Seconds: ended.Sub(l.begun).Seconds(), IDs: l.ids.Len(), ByClient: map[string]int64{},
		Commits: l.commits.Counts(), Faults: l.meter.Report(),
	}
	l.repeatedMu.Lock()
	r.Repeated = slices.Clone(l.repeated)
	l.repeatedMu.Unlock()
	l.kinds.Range(func(kind, n any) bool {
		r.ByClient[kind.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return r
}

// Markdown returns the report for people.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s IDs in %.0f s, %d twice. %s commits acknowledged, %d of them lost; ",
		meter.Thousands(r.IDs), r.Seconds, r.Faults.Total.Twice,
		meter.Thousands(int64(r.Commits.Acknowledged)), r.Commits.Lost)
	fmt.Fprintf(&b, "%d acknowledged with a notice, %d of them lost; of %d nobody knows.\n\n",
		r.Commits.Noticed, r.Commits.NoticedLost, r.Commits.Unknown())
	b.WriteString(r.Faults.Markdown())
	b.WriteString("\n| client | IDs |\n|---|---:|\n")
	for _, kind := range slices.Sorted(maps.Keys(r.ByClient)) {
		fmt.Fprintf(&b, "| %s | %s |\n", kind, meter.Thousands(r.ByClient[kind]))
	}
	return b.String()
}

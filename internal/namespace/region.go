package namespace

import (
	"fmt"

	"pgflurry/generator"
)

// A Range is the workers from Lowest to Highest, both included.
type Range struct {
	Lowest  int `json:"from"`
	Highest int `json:"to"`
}

// Has reports whether a worker is in the range.
func (r Range) Has(worker int) bool { return worker >= r.Lowest && worker <= r.Highest }

// Size returns the number of workers.
func (r Range) Size() int { return r.Highest - r.Lowest + 1 }

// String returns "96 to 127", or "96" for one worker.
func (r Range) String() string {
	if r.Lowest == r.Highest {
		return fmt.Sprint(r.Lowest)
	}
	return fmt.Sprintf("%d to %d", r.Lowest, r.Highest)
}

// meets returns the workers that two ranges have in common.
func (r Range) meets(other Range) (both Range, ok bool) {
	both = Range{max(r.Lowest, other.Lowest), min(r.Highest, other.Highest)}
	return both, both.Lowest <= both.Highest
}

// WorkersOf returns the workers of a namespace: those of its region, which the layout must have, or all.
func WorkersOf(layout generator.Layout, region *int) Range {
	if region == nil {
		return Range{0, layout.Workers() - 1}
	}
	return Range{*region << layout.WorkerBits, (*region+1)<<layout.WorkerBits - 1}
}

// Workers returns the workers that the home of this database can give.
func (n Namespace) Workers() Range { return WorkersOf(n.Layout, n.Region) }

// Kinds say which workers are no proxy's. They are fixed when the ID space is made, and in its fingerprint.
type Kinds struct {
	Foreign   Ranges // a generator of another kind gives IDs with them, in any region
	Functions Ranges // the functions of databases do, in this region
}

// Proxies returns the workers that proxies lease.
func (n Namespace) Proxies() Ranges {
	return Ranges{n.Workers()}.Without(n.Functions).Without(n.Foreign)
}

// RegionName returns "region 3", or "no region".
func (n Namespace) RegionName() string { return regionName(n.Region) }

func regionName(region *int) string {
	if region == nil {
		return "no region"
	}
	return fmt.Sprintf("region %d", *region)
}

package namespace

import (
	"fmt"

	"pgflurry/generator"
)

// A Range is workers from Lowest to Highest, both included.
type Range struct{ Lowest, Highest int }

// Has says whether a worker is among them.
func (r Range) Has(worker int) bool { return worker >= r.Lowest && worker <= r.Highest }

// Size is how many there are.
func (r Range) Size() int { return r.Highest - r.Lowest + 1 }

// String is "96 to 127", or "96" for one.
func (r Range) String() string {
	if r.Lowest == r.Highest {
		return fmt.Sprint(r.Lowest)
	}
	return fmt.Sprintf("%d to %d", r.Lowest, r.Highest)
}

// meets is the workers that two ranges have in common.
func (r Range) meets(other Range) (both Range, ok bool) {
	both = Range{max(r.Lowest, other.Lowest), min(r.Highest, other.Highest)}
	return both, both.Lowest <= both.Highest
}

// WorkersOf is the workers that a namespace of a layout has: those of its region, which the layout must have, or all.
func WorkersOf(layout generator.Layout, region *int) Range {
	if region == nil {
		return Range{0, layout.Workers() - 1}
	}
	return Range{*region << layout.WorkerBits, (*region+1)<<layout.WorkerBits - 1}
}

// Workers are those that the home of this database has to give.
func (n Namespace) Workers() Range { return WorkersOf(n.Layout, n.Region) }

// Functions are those of Workers that are for the functions of databases.
func (n Namespace) Functions() Range {
	lowest := n.Workers().Lowest
	return Range{lowest, lowest + n.DatabaseWorkers - 1}
}

// Proxies are those of Workers that proxies lease.
func (n Namespace) Proxies() Range {
	all := n.Workers()
	return Range{all.Lowest + n.DatabaseWorkers, all.Highest}
}

// RegionName is "region 3", or "no region".
func (n Namespace) RegionName() string { return regionName(n.Region) }

func regionName(region *int) string {
	if region == nil {
		return "no region"
	}
	return fmt.Sprintf("region %d", *region)
}

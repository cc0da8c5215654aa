package partition

import (
	"cmp"
	"slices"
)

// A span is a range of IDs: from low to below high.
type span struct{ low, high int64 }

// missing lists the spans that have no partition, from the current unit to the end of the last one ahead. Each begins
// where the partition before it ends, however long ago that was, and ends where a unit begins, or a partition.
func missing(parts []part, starts []start) (spans []span) {
	current, end := starts[0].id, starts[len(starts)-1].id
	covered := int64(minValue)
	for _, p := range append(parts[:len(parts):len(parts)], part{low: end, high: end}) {
		low := min(p.low, end)
		if covered < low && low > current {
			spans = append(spans, cut(span{covered, low}, starts)...)
		}
		covered = max(covered, p.high)
	}
	return spans
}

// cut divides a span where units begin.
func cut(s span, starts []start) (pieces []span) {
	for _, at := range starts {
		if s.low < at.id && at.id < s.high {
			pieces = append(pieces, span{s.low, at.id})
			s.low = at.id
		}
	}
	return append(pieces, s)
}

// with is partitions and those that are about to be made, in order.
func with(parts []part, made []span) []part {
	parts = slices.Clone(parts)
	for _, s := range made {
		parts = append(parts, part{low: s.low, high: s.high})
	}
	sort(parts)
	return parts
}

func sort(parts []part) {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.low, b.low) })
}

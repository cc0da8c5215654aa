package namespace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ranges are workers: ranges in ascending order. Between two of them there is at least one other worker.
type Ranges []Range

// highestWorker is the highest worker that any layout has.
const highestWorker = 1<<16 - 1

var errNoRanges = errors.New("expected numbers and ranges such as 0-31,991, or none")

// ParseRanges reads numbers and ranges such as "0-31,991", or "none".
func ParseRanges(text string) (Ranges, error) {
	all := Ranges{}
	if text == "none" {
		return all, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		lowest, err := strconv.ParseUint(from, 10, 31)
		highest, other := strconv.ParseUint(to, 10, 31)
		switch {
		case err != nil || other != nil:
			return nil, errNoRanges
		case lowest > highest:
			return nil, fmt.Errorf("%d-%d ends before it begins", lowest, highest)
		case highest > highestWorker:
			return nil, fmt.Errorf("there is no worker %d: no layout has more than %d", highest, highestWorker)
		}
		all = append(all, Range{int(lowest), int(highest)})
	}
	return all.merged(), nil
}

// parseMultirange reads PostgreSQL's canonical text of an int4multirange, such as "{[0,32),[991,992)}".
func parseMultirange(text string) (Ranges, error) {
	all := Ranges{}
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	for part := range strings.SplitSeq(inner, ")") {
		if part == "" {
			continue
		}
		var r Range
		if _, err := fmt.Sscanf(strings.TrimPrefix(part, ","), "[%d,%d", &r.Lowest, &r.Highest); err != nil {
			return nil, fmt.Errorf("the namespace row has the workers %q, which this version cannot read: %w",
				text, err)
		}
		r.Highest--
		all = append(all, r)
	}
	return all, nil
}

// Multirange returns the text that PostgreSQL reads as an int4multirange.
func (r Ranges) Multirange() string {
	parts := make([]string, len(r))
	for i, one := range r {
		parts[i] = fmt.Sprintf("[%d,%d]", one.Lowest, one.Highest)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// merged sorts ranges, and joins those that meet or adjoin.
func (r Ranges) merged() Ranges {
	slices.SortFunc(r, func(a, b Range) int { return a.Lowest - b.Lowest })
	joined := Ranges{}
	for _, one := range r {
		if last := len(joined) - 1; last >= 0 && one.Lowest <= joined[last].Highest+1 {
			joined[last].Highest = max(joined[last].Highest, one.Highest)
		} else {
			joined = append(joined, one)
		}
	}
	return joined
}

// Has reports whether a worker is in one of the ranges.
func (r Ranges) Has(worker int) bool {
	return slices.ContainsFunc(r, func(one Range) bool { return one.Has(worker) })
}

// Size returns the number of workers.
func (r Ranges) Size() (n int) {
	for _, one := range r {
		n += one.Size()
	}
	return n
}

// Hull returns the range from the lowest to the highest worker. There must be one.
func (r Ranges) Hull() Range { return Range{r[0].Lowest, r[len(r)-1].Highest} }

// Without returns the workers that others do not have.
func (r Ranges) Without(others Ranges) Ranges {
	left := r
	for _, other := range others {
		var cut Ranges
		for _, one := range left {
			for _, part := range []Range{
				{one.Lowest, min(one.Highest, other.Lowest-1)}, {max(one.Lowest, other.Highest+1), one.Highest},
			} {
				if part.Size() > 0 {
					cut = append(cut, part)
				}
			}
		}
		left = cut
	}
	return left
}

// In returns the workers that are in one range.
func (r Ranges) In(one Range) Ranges { return r.Without(r.Without(Ranges{one})) }

// List returns "0-31,991", as ParseRanges reads it, or "none".
func (r Ranges) List() string {
	return r.join(",", func(one Range) string {
		if one.Highest > one.Lowest {
			return fmt.Sprintf("%d-%d", one.Lowest, one.Highest)
		}
		return strconv.Itoa(one.Lowest)
	})
}

// String returns "0 to 31, 991", or "none".
func (r Ranges) String() string { return r.join(", ", Range.String) }

func (r Ranges) join(separator string, text func(Range) string) string {
	if len(r) == 0 {
		return "none"
	}
	parts := make([]string, len(r))
	for i, one := range r {
		parts[i] = text(one)
	}
	return strings.Join(parts, separator)
}

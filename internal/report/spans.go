package report

import "slices"

// A Span is the numbers from First to Last, both included.
type Span struct{ First, Last int }

// Spans are numbers.
type Spans []Span

// Has reports whether a number is in one of the spans.
func (s Spans) Has(number int) bool {
	return slices.ContainsFunc(s, func(one Span) bool { return one.First <= number && number <= one.Last })
}

// Size returns how many numbers there are.
func (s Spans) Size() (n int) {
	for _, one := range s {
		n += one.Last - one.First + 1
	}
	return n
}

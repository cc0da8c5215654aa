// Package tally has the labels under which operators are told what clients do, through the proxy and in the ID database
// alike.
package tally

// State is what a client's connection does.
type State uint8

const (
	Login State = iota // it has not logged in
	Idle
	InTransaction
	Failed // in a transaction block that failed
	States
)

// StateLabels are their labels.
var StateLabels = [States]string{"login", "idle", "in_transaction", "failed"}

// Labelled is counts by their labels.
func Labelled[N int | int64](labels []string, counts []N) map[string]N {
	m := make(map[string]N, len(labels))
	for i, label := range labels {
		m[label] = counts[i]
	}
	return m
}

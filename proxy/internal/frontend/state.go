package frontend

// State is what a client's connection does.
type State uint8

const (
	Login State = iota // it has not logged in
	Idle
	InTransaction
	Failed // in a transaction block that failed
	States
)

// StateLabels are the labels of the states.
var StateLabels = [States]string{"login", "idle", "in_transaction", "failed"}

// Labelled maps labels to counts.
func Labelled[N int | int64](labels []string, counts []N) map[string]N {
	m := make(map[string]N, len(labels))
	for i, label := range labels {
		m[label] = counts[i]
	}
	return m
}

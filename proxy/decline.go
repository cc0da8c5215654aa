package proxy

import "errors"

// Decline is why the proxy forwarded a statement that is an answered form.
type Decline uint8

const (
	// DeclineNoLease means that the proxy has no lease of a worker, or does not know the worker's namespace.
	DeclineNoLease Decline = iota
	// DeclineMark means that the worker has reached its mark, or the end of the layout's time.
	DeclineMark
	// DeclineTickFull means that no ID came within 50 ms, or that all IDs of the batch would not come within 50 ms.
	// The usual cause is that every tick is full.
	DeclineTickFull
	// DeclineNotAnswerable means that the database is listed but does not permit the form now, or that the tag is not
	// in memory.
	DeclineNotAnswerable
	// DeclineTimeout means that the numbers of a tag did not come in time.
	DeclineTimeout
	declines
)

var declineLabels = [declines]string{"no_lease", "grant_ended", "tick_full", "not_answerable", "timeout"}

// String is the label in metrics.
func (d Decline) String() string {
	if d < declines {
		return declineLabels[d]
	}
	return "unknown"
}

var errTagLate = errors.New("no numbers of the tag came in time")

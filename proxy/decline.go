package proxy

import (
	"errors"

	"pgflurry/draw"
)

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

// decline counts statements that reserve could not serve.
func (s *session) decline(err error, statements int) {
	why := DeclineNoLease
	switch {
	case errors.Is(err, draw.ErrLate):
		why = DeclineTickFull
	case err == errTagLate:
		why = DeclineTimeout
	case s.proxy.whyNot != nil:
		why = min(s.proxy.whyNot(err), declines-1)
	}
	s.proxy.counters.declined[why].Add(int64(statements))
}

// countUnpermitted counts the statements that were forwarded since its last call because of Permission. It does not
// count those of a database that is not listed: nobody expects answers there.
func (s *session) countUnpermitted() {
	n := s.conversation.TakeUnpermitted()
	if n > 0 && s.permission != nil {
		s.proxy.counters.declined[DeclineNotAnswerable].Add(int64(n))
	}
}

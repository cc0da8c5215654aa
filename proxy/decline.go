package proxy

import "errors"

// Decline is why a statement was forwarded that is an answered form.
type Decline uint8

const (
	// DeclineNoLease: no worker is leased, or its namespace is not known.
	DeclineNoLease Decline = iota
	// DeclineMark: the mark of the worker is reached, or the end of the layout's time.
	DeclineMark
	// DeclineTickFull: no ID came within 50 ms, as a rule because each tick was full.
	DeclineTickFull
	// DeclineNotAnswerable: the database is listed, and does not permit the form now; or there is no such tag in
	// memory.
	DeclineNotAnswerable
	// DeclineTimeout: the numbers of a tag did not come in time.
	DeclineTimeout
	declines
)

var declineLabels = [declines]string{"no_lease", "mark", "tick_full", "not_answerable", "timeout"}

// String is the label of a reason.
func (d Decline) String() string {
	if d < declines {
		return declineLabels[d]
	}
	return "unknown"
}

var (
	errTickFull = errors.New("no ID came in time")
	errTagLate  = errors.New("no numbers of the tag came in time")
)

// decline counts statements for which reserve had an error.
func (s *session) decline(err error, statements int) {
	why := DeclineNoLease
	switch {
	case err == errTickFull:
		why = DeclineTickFull
	case err == errTagLate:
		why = DeclineTimeout
	case s.proxy.whyNot != nil:
		why = min(s.proxy.whyNot(err), declines-1)
	}
	s.proxy.counters.declined[why].Add(int64(statements))
}

// countUnpermitted counts the statements that were forwarded since it was called last because the session may not have
// them from memory. Of a database that is not listed nobody expects answers.
func (s *session) countUnpermitted() {
	n := s.conversation.takeUnpermitted()
	if n > 0 && s.permission != nil {
		s.proxy.counters.declined[DeclineNotAnswerable].Add(int64(n))
	}
}

package logs

import "time"

// RemindEvery is the time between two reminders of a trouble that a person has to fix.
const RemindEvery = time.Minute

// A Reminder decides when to log a trouble that lasts: when it begins, when it changes, and from time to time while it
// stays. It follows one trouble. One goroutine uses it.
//
//	finding    A A A A A B B B – – A A
//	logged     ●     ●   ●     ●   ●      – is no trouble, which is logged once
//	           new   │   new       new
//	                 again: Every has passed, and it lasts since the first A
//
// It reads no clock and logs nothing: the caller passes the time in and writes the line. Only the length of a trouble
// has one form in all lines: Fields.
type Reminder struct {
	Every time.Duration // between two lines of the same finding

	finding string        // logged last
	logged  time.Duration // when
	trouble bool
	began   time.Duration // begin of the trouble
}

// Wrong reports a finding of trouble, and whether to log it now. at is a reading of a monotonic clock. lasted is the
// length of the trouble if the same finding was logged before, and 0 if the finding is new.
func (r *Reminder) Wrong(finding string, at time.Duration) (due bool, lasted time.Duration) {
	if !r.trouble {
		r.trouble, r.began = true, at
	}
	if finding == r.finding {
		if at-r.logged < r.Every {
			return false, 0
		}
		lasted = at - r.began
	}
	r.finding, r.logged = finding, at
	return true, lasted
}

// Right reports a finding without trouble, and whether to log it now. It is logged once.
func (r *Reminder) Right(finding string) (due bool) {
	due = finding != r.finding
	r.finding, r.trouble = finding, false
	return due
}

// Fields is the length of a trouble as an attribute of a log line; empty if the trouble is new.
func Fields(lasted time.Duration) []any {
	if lasted == 0 {
		return nil
	}
	return []any{"trouble_lasted", lasted.Round(time.Millisecond)}
}

// Lasted is the length of the present trouble; 0 if there is none.
func (r *Reminder) Lasted(at time.Duration) time.Duration {
	if !r.trouble {
		return 0
	}
	return at - r.began
}

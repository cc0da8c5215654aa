// Package reminder decides when the log speaks of a trouble that lasts: when it begins, when it becomes another one,
// and from time to time while it stays.
//
//	finding    A A A A A B B B – – A A
//	logged     ●     ●   ●     ●   ●      – is no trouble, which is logged once
//	           new   │   new       new
//	                 again: Every has passed, and it lasts since the first A
//
// It reads no clock and logs nothing: its user passes the time in, and words the line. Only how long a trouble has
// lasted has one form in all lines: Fields.
package reminder

import "time"

// Usual is how often it is said again that something lasts which a person has to mend.
const Usual = time.Minute

// A Reminder follows one trouble. One goroutine uses it.
type Reminder struct {
	Every time.Duration // between two lines of the same finding

	finding string        // logged last
	logged  time.Duration // when
	trouble bool
	began   time.Duration // when the trouble did
}

// Wrong is a finding of trouble at a reading of a monotonic clock. It says whether to log it now. lasted is how long
// the trouble has lasted where the same finding was logged before, and 0 where it is new.
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

// Right is a finding without trouble. It says whether to log it now, which is once.
func (r *Reminder) Right(finding string) (due bool) {
	due = finding != r.finding
	r.finding, r.trouble = finding, false
	return due
}

// Fields are the attribute of a line that says how long a trouble has lasted. They are empty where it is new.
func Fields(lasted time.Duration) []any {
	if lasted == 0 {
		return nil
	}
	return []any{"trouble_lasted", lasted.Round(time.Millisecond)}
}

// Lasted is how long the present trouble has lasted; 0 where there is none.
func (r *Reminder) Lasted(at time.Duration) time.Duration {
	if !r.trouble {
		return 0
	}
	return at - r.began
}

package logs_test

import (
	"testing"
	"time"

	"pgflurry/internal/logs"
)

func TestATroubleIsLoggedWhenItBeginsWhenItChangesAndWhileItLasts(t *testing.T) {
	r := logs.Reminder{Every: time.Minute}
	for i, step := range []struct {
		at      time.Duration // seconds
		finding string        // "": all is well
		due     bool
		lasted  time.Duration // seconds
	}{
		{0, "", false, 0}, // nothing was ever wrong
		{1, "A", true, 0},
		{2, "A", false, 0},
		{60, "A", false, 0},
		{61, "A", true, 60},
		{62, "A", false, 0},
		{70, "B", true, 0},
		{129, "B", false, 0},
		{130, "B", true, 129}, // since the first A
		{140, "", true, 0},
		{141, "", false, 0},
		{142, "B", true, 0},
		{143, "", true, 0},
	} {
		var due bool
		var lasted time.Duration
		if step.finding == "" {
			due = r.Right("")
		} else {
			due, lasted = r.Wrong(step.finding, step.at*time.Second)
		}
		if due != step.due || lasted != step.lasted*time.Second {
			t.Errorf("step %d, %q after %d s: due %v, lasted %v", i, step.finding, step.at, due, lasted)
		}
	}
	if fields := logs.Fields(0); len(fields) != 0 {
		t.Errorf("a trouble that is new has lasted: %v", fields)
	}
	if r.Lasted(time.Hour) != 0 {
		t.Error("a trouble that is over lasts")
	}
}

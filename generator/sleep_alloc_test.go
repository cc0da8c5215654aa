//go:build !race

package generator

import (
	"testing"
	"time"
)

// Not under the race detector, which makes sync.Pool forget at random.
func TestAWaitAllocatesNothing(t *testing.T) {
	s := new(sleeper)
	if got := testing.AllocsPerRun(100, func() {
		if err := s.wait(background, time.Microsecond); err != nil {
			t.Error(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations a wait", got)
	}
}

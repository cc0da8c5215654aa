//go:build full && linux

package machines

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAClockThatIsSetIsSeenThereAlone(t *testing.T) {
	w := three(t)
	const tell = "while sleep 0.002; do echo $EPOCHSECONDS; done"
	start := func(name string) *Process {
		return w.Machine(name).Start(t, Command{Name: "bash", Args: []string{"-c", tell}, As: "nobody"})
	}
	set, other := start("db1"), start("db2")
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 10 * time.Second, -10 * time.Second, 0} {
		w.Machine("db1").SetClock(ahead)
		begun := start("db1")
		isAhead(t, set, ahead)
		isAhead(t, begun, ahead)
		isAhead(t, other, 0)
		begun.Kill()
	}
}

// isAhead expects a clock reading that the process prints after the call. A slow machine makes the reading look late,
// by less than the step.
func isAhead(t *testing.T, p *Process, want time.Duration) {
	t.Helper()
	before, told := time.Now(), len(p.Log())
	var lines []string
	until(t, func() bool {
		lines = strings.Split(p.Log()[told:], "\n")
		return len(lines) > 3 // the first line may be half a line from before
	})
	after := time.Now()
	seconds, err := strconv.ParseInt(lines[2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	got := time.Unix(seconds, 0)
	if earliest, latest := before.Add(want-time.Second), after.Add(want); got.Before(earliest) || got.After(latest) {
		t.Errorf("the clock shows %v, want from %v to %v, which is %v ahead", got, earliest, latest, want)
	}
}

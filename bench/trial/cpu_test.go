package trial

import (
	"errors"
	"testing"
	"time"
)

// moments is a system whose processes change from look to look; the last look stays. A process has a clock if it is in
// the latest look.
type moments struct {
	stats []map[int]procStat
	times map[int]time.Duration
	looks int
}

func (m *moments) at() map[int]procStat { return m.stats[min(max(m.looks, 1), len(m.stats))-1] }

func (m *moments) system() system {
	return system{
		stats: func() (map[int]procStat, error) { m.looks++; return m.at(), nil },
		clock: func(pid int) (time.Duration, error) {
			if _, lives := m.at()[pid]; !lives {
				return 0, errors.New("no such process")
			}
			return m.times[pid], nil
		},
	}
}

var (
	serving     = procStat{parent: 1, reaped: 100, started: 1}
	backend     = procStat{parent: 10, started: 2}
	reaped      = procStat{parent: 1, reaped: 130, started: 1} // after a backend that spent 300 ms
	withOne     = map[int]procStat{1: {}, 10: serving, 11: backend}
	torn        = map[int]procStat{1: {}, 10: serving} // the backend ended after its parent was read, before it was
	twice       = map[int]procStat{1: {}, 10: reaped, 11: backend}
	without     = map[int]procStat{1: {}, 10: reaped}
	clocks      = map[int]time.Duration{1: time.Hour, 10: 5 * time.Millisecond, 11: 300 * time.Millisecond}
	spentByBoth = 1305 * time.Millisecond
)

func TestABackendThatEndsWhileATreeIsLookedAtIsCountedOnce(t *testing.T) {
	for what, stats := range map[string][]map[int]procStat{
		"it lives":                               {withOne},
		"it has ended before":                    {without},
		"it ended between its parent and itself": {torn, without},
		"it ended between itself and its parent": {twice, without},
		"it ended before its clock was read":     {withOne, without},
		"it ended after its clock was read":      {withOne, withOne, without},
		"another one came at its number":         {withOne, {1: {}, 10: reaped, 11: {parent: 10, started: 3}}, without},
	} {
		m := &moments{stats: stats, times: clocks}
		if spent, err := m.system().treeCPU(10); err != nil || spent != spentByBoth {
			t.Errorf("%s: %v, error %v; expected %v", what, spent, err, spentByBoth)
		}
	}
}

func TestATreeInWhichSomebodyAlwaysComesOrGoesHasNoTime(t *testing.T) {
	m := &moments{times: clocks}
	for range 2 * looks {
		m.stats = append(m.stats, withOne, without)
	}
	if spent, err := m.system().treeCPU(10); err == nil {
		t.Errorf("it has %v; expected an error", spent)
	}
}

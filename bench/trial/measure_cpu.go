package trial

import (
	"context"
	"maps"
	"slices"
	"time"
)

// measureCPU runs a turn and takes the processor time of the watched processes, by role. It returns when the processes
// that came with the turn have ended.
func (s system) measureCPU(ctx context.Context, turn Turn, d time.Duration, watched map[string]int) (Count, error) {
	defer s.lookAt(watched).awaitLeaving(ctx)
	return turn(ctx, d, s.measuring(ctx, watched))
}

// measuring is the Measure of processes by role.
func (s system) measuring(ctx context.Context, watched map[string]int) Measure {
	return func(work func() (Count, error)) (Count, error) {
		there, before := s.lookAt(watched), make(map[string]time.Duration)
		for role, pid := range watched {
			if spent, err := s.treeCPU(pid); err == nil {
				before[role] = spent
			}
		}
		count, err := work()
		if err != nil {
			return count, err
		}
		there.awaitLeaving(ctx)
		for role, began := range before {
			if spent, err := s.treeCPU(watched[role]); err == nil {
				if count.Spent == nil {
					count.Spent = make(map[string]time.Duration)
				}
				count.Spent[role] = spent - began
			}
		}
		return count, nil
	}
}

// presence is the processes of some trees at a moment.
type presence struct {
	system  system
	watched map[string]int
	there   map[int]bool
}

// lookAt records the processes by role, and those below them.
func (s system) lookAt(watched map[string]int) presence {
	p := presence{system: s, watched: watched, there: make(map[int]bool)}
	for _, pid := range p.now() {
		p.there[pid] = true
	}
	return p
}

// now lists the present processes. A tree that cannot be read is empty, and its processor time is not measured either.
func (p presence) now() (all []int) {
	for _, root := range p.watched {
		if tree, err := p.system.tree(root); err == nil {
			all = slices.AppendSeq(all, maps.Keys(tree))
		}
	}
	return all
}

const (
	leavingPatience = time.Second // a pooler keeps its connections longer, and a vacuum lasts longer
	leavingLook     = 5 * time.Millisecond
)

// awaitLeaving returns when all new processes have ended, or when patience is over. A server's process for a connection
// ends some time after its client has closed it, and uses processor time until then.
func (p presence) awaitLeaving(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leavingPatience)
	defer cancel()
	again := time.NewTicker(leavingLook)
	defer again.Stop()
	for slices.ContainsFunc(p.now(), func(pid int) bool { return !p.there[pid] }) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

package trial

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc:
// USER_HZ is 100 on every architecture that Go runs on (proc(5), getconf CLK_TCK).
const tick = 10 * time.Millisecond

// system is what is asked of the operating system.
type system struct {
	stats func() (map[int]procStat, error) // of all processes, one after the other
	// processor time of all threads of a process, those that have ended included
	clock func(pid int) (time.Duration, error)
}

func thisSystem() system { return system{stats: readStats, clock: processClock} }

// procStat is what this package reads of /proc/PID/stat.
type procStat struct {
	parent  int
	reaped  int64 // ticks, user and system, of children that were waited for, and theirs
	started int64 // ticks since the machine started
}

// looks is how often a tree is looked at until nobody comes or goes meanwhile.
const looks = 100

// treeCPU is the processor time, user and system, that a process and all processes below it have spent, those that have
// ended and were waited for included. What processes spend that live is exact; that of all which have ended is cut off
// to a tick twice, user and system, so that the sum may fall by two ticks when one ends, and is never further off. It
// needs Linux's /proc.
//
// It looks before and after it reads the clocks. If the same processes were there and none had been waited for
// meanwhile, then each is in the sum once: by its own clock or, if it has ended, by its parent's count.
func (s system) treeCPU(pid int) (time.Duration, error) {
	for range looks {
		before, err := s.tree(pid)
		if err != nil {
			return 0, err
		}
		spent, live := s.sum(before)
		after, err := s.tree(pid)
		if err != nil {
			return 0, err
		}
		if live && maps.Equal(before, after) {
			return spent, nil
		}
	}
	return 0, fmt.Errorf("processes below %d came or went each of the %d times that they were looked at; "+
		"expected one moment in which all stay", pid, looks)
}

// sum adds up a tree; live says that each process still had a clock.
func (s system) sum(tree map[int]procStat) (spent time.Duration, live bool) {
	for pid, stat := range tree {
		own, err := s.clock(pid)
		if err != nil {
			return 0, false
		}
		spent += own + time.Duration(stat.reaped)*tick
	}
	return spent, true
}

// tree gives a process and all below it.
func (s system) tree(pid int) (map[int]procStat, error) {
	stats, err := s.stats()
	if err != nil {
		return nil, err
	}
	if _, lives := stats[pid]; !lives {
		return nil, fmt.Errorf("/proc has no process %d", pid)
	}
	children := make(map[int][]int)
	for child, stat := range stats {
		children[stat.parent] = append(children[stat.parent], child)
	}
	tree := make(map[int]procStat)
	for todo := []int{pid}; len(todo) > 0; {
		next := todo[0]
		todo = append(todo[1:], children[next]...)
		tree[next] = stats[next]
	}
	return tree, nil
}

func readStats() (map[int]procStat, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("/proc lists no processes: %w", os.ErrNotExist)
	}
	stats := make(map[int]procStat, len(paths))
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if s, err := parseStat(string(content)); err == nil {
			stats[pid] = s
		}
	}
	return stats, nil
}

// parseStat reads "pid (name) state parent …"; the name may hold spaces and brackets. The times of children are fields
// 16 and 17 of proc(5), the start is field 22.
func parseStat(line string) (procStat, error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return procStat{}, fmt.Errorf("%d fields after the name; expected at least 20", len(fields))
	}
	var numbers [4]int64
	for i, at := range []int{1, 13, 14, 19} {
		var err error
		if numbers[i], err = strconv.ParseInt(fields[at], 10, 64); err != nil {
			return procStat{}, err
		}
	}
	return procStat{parent: int(numbers[0]), reaped: numbers[1] + numbers[2], started: numbers[3]}, nil
}

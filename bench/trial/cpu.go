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

// tick is the unit of processor time in /proc: USER_HZ is 100 on every architecture of Go (proc(5), getconf CLK_TCK).
const tick = 10 * time.Millisecond

// system is the operating system's side.
type system struct {
	stats func() (map[int]procStat, error) // of all processes, read one after the other
	// processor time of all threads of a process, ended ones included
	clock func(pid int) (time.Duration, error)
}

func thisSystem() system { return system{stats: readStats, clock: processClock} }

// procStat is the part of /proc/PID/stat that is used here.
type procStat struct {
	parent  int
	reaped  int64 // ticks, user and system, of all descendants that were waited for
	started int64 // ticks since the machine started
}

// looks limits the attempts to read a tree while no process comes or goes.
const looks = 100

// treeCPU is the processor time, user and system, of a process and all processes below it. It includes those that have
// ended and were waited for. It needs Linux's /proc.
//
// The time of running processes is exact. The time of ended ones is cut off to a tick twice, for user and for system.
// So the sum may fall by two ticks when a process ends, but its error never grows.
//
// It reads the tree before and after it reads the clocks. If both trees have the same processes, and none was waited
// for meanwhile, each process is in the sum once. Its own clock counts or, if it has ended, its parent's count.
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

// sum adds up a tree. live says that each process still had a clock.
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

// tree returns a process and all below it.
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

// parseStat parses "pid (name) state parent …". The name may contain spaces and brackets. The times of children are
// fields 16 and 17 of proc(5), the start is field 22.
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

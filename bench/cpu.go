package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: USER_HZ is 100 on every architecture that Go runs on (proc(5), getconf CLK_TCK).
const tick = 10 * time.Millisecond

// TreeCPU is the processor time, user and system, that a process and all processes below it have spent, those that have
// ended and were waited for included. It rises as long as the process lives. It needs Linux's /proc.
func TreeCPU(pid int) (time.Duration, error) {
	stats, err := readStats()
	if err != nil {
		return 0, err
	}
	if _, lives := stats[pid]; !lives {
		return 0, fmt.Errorf("/proc has no process %d", pid)
	}
	children := make(map[int][]int)
	for child, s := range stats {
		children[s.parent] = append(children[s.parent], child)
	}
	var ticks int64
	for todo := []int{pid}; len(todo) > 0; {
		next := todo[0]
		todo = append(todo[1:], children[next]...)
		ticks += stats[next].ticks
	}
	return time.Duration(ticks) * tick, nil
}

// procStat is what this package reads of /proc/PID/stat.
type procStat struct {
	parent int
	ticks  int64 // utime, stime, and those of children that were waited for
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

// parseStat reads "pid (name) state parent …"; the name may hold spaces and brackets. Times are fields 14 to 17 of proc(5).
func parseStat(line string) (procStat, error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 15 {
		return procStat{}, fmt.Errorf("%d fields after the name; expected at least 15", len(fields))
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return procStat{}, err
	}
	s := procStat{parent: parent}
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return procStat{}, err
		}
		s.ticks += n
	}
	return s, nil
}

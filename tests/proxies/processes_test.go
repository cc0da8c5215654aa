package proxies

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// stopAll signals a postmaster and all its backends.
func stopAll(t testing.TB, postmaster int, s syscall.Signal) {
	t.Helper()
	for _, pid := range append(childrenOf(t, postmaster), postmaster) {
		if err := syscall.Kill(pid, s); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
	}
}

func childrenOf(t testing.TB, parent int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state ppid …; the name may hold spaces and brackets.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if ppid, _ := strconv.Atoi(fields[1]); ppid == parent {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func database(direct string) string {
	u, err := url.Parse(direct)
	if err != nil {
		panic(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

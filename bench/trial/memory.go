package trial

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Memory is the memory of a process and all below it, in bytes. A page that several processes share counts in each by
// its part, so the sum has it once. Shared memory does not count, because it is a server's cache and not a
// connection's. The kernel's own memory for the processes, such as sockets and page tables, does not count either.
// Memory needs Linux's /proc, and the right to read that of the processes.
func Memory(pid int) (total int64, err error) {
	tree, err := thisSystem().tree(pid)
	if err != nil {
		return 0, err
	}
	for member := range tree {
		own, err := memoryOf(member)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH): // it has ended meanwhile
		case err != nil:
			return 0, fmt.Errorf("the memory of process %d cannot be read: %w", member, err)
		}
		total += own
	}
	return total, nil
}

func memoryOf(pid int) (int64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil || len(content) == 0 { // empty for a process that has ended and was not waited for
		return 0, err
	}
	return parseMemory(content)
}

// parseMemory parses smaps_rollup of proc(5): lines "Pss: 123 kB".
func parseMemory(content []byte) (int64, error) {
	lines := make(map[string]int64)
	for line := range bytes.Lines(content) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if fields := bytes.Fields(value); len(fields) == 2 && string(fields[1]) == "kB" {
			kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
			if err != nil {
				return 0, err
			}
			lines[string(name)] = kilobytes << 10
		}
	}
	all, has := lines["Pss"]
	shared, told := lines["Pss_Shmem"]
	if !has || !told {
		return 0, errors.New("smaps_rollup has no Pss or no Pss_Shmem; expected Linux 5.4 or newer")
	}
	return all - shared, nil
}

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

// Memory is what a process and all below it have in memory, in bytes. A page that several processes have counts in each
// for its part, so that the sum has it once. Shared memory, which is a server's cache and not a connection's, does not
// count. Nor does what the kernel keeps for the processes, sockets and page tables among it. It needs Linux's /proc,
// and the right to look at the processes.
func Memory(pid int) (total int64, err error) {
	tree, err := thisSystem().tree(pid)
	if err != nil {
		return 0, err
	}
	for member := range tree {
		own, err := memoryOf(member)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH): // it has ended since
		case err != nil:
			return 0, fmt.Errorf("the memory of process %d cannot be read: %w", member, err)
		}
		total += own
	}
	return total, nil
}

func memoryOf(pid int) (int64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil || len(content) == 0 { // a process that has ended and was not waited for has an empty one
		return 0, err
	}
	return parseMemory(content)
}

// parseMemory reads smaps_rollup of proc(5): lines "Pss: 123 kB".
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

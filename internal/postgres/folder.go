package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// longestSocketPath fits into the kernel's sockaddr_un with its closing zero: 107 bytes on Linux, 103 on macOS and the
// BSDs.
const longestSocketPath = 103

// lock keeps a second pgflurry off the data folder until unlock. The file stays: if it were removed, two processes
// could lock two files of the same name.
func lock(data string) (unlock func(), err error) {
	file, err := os.OpenFile(data+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("the folder of %s belongs to another user, who may have run this before: %w", data, err)
	}
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be locked: %w", err)
	}
	if err := lockFile(file); err != nil {
		holder, _ := os.ReadFile(file.Name())
		file.Close()
		return nil, fmt.Errorf("data folder %s is in use by process %s; name another one, or stop that process",
			data, strings.TrimSpace(string(holder)))
	}
	if err := file.Truncate(0); err != nil {
		file.Close()
		return nil, fmt.Errorf("the data folder's lock cannot be written: %w", err)
	}
	if _, err := fmt.Fprintln(file, os.Getpid()); err != nil {
		file.Close()
		return nil, fmt.Errorf("the data folder's lock cannot be written: %w", err)
	}
	return func() { _ = unlockFile(file); file.Close() }, nil
}

// socketDir is the data folder. If the socket's path would be too long or would need quoting, it is a new folder below
// /tmp.
func socketDir(data string, who account) (dir string, remove func(), err error) {
	if len(filepath.Join(data, ".s.PGSQL.65535")) <= longestSocketPath && !strings.ContainsAny(data, `,"' `+"\t\n") {
		return data, func() {}, nil
	}
	dir, err = os.MkdirTemp("/tmp", "pgflurry-")
	if err != nil {
		return "", nil, fmt.Errorf("no folder for the server's socket: %w", err)
	}
	remove = func() { os.RemoveAll(dir) }
	if err := who.give(dir); err != nil {
		remove()
		return "", nil, fmt.Errorf("no folder for the server's socket: %w", err)
	}
	return dir, remove, nil
}

// checkPidFile checks a postmaster.pid that an earlier server left. If that server runs, it is an error. After a
// restart of the machine its process number may belong to another program. PostgreSQL would then refuse to start, so
// the file is removed. PostgreSQL handles every other case itself.
func checkPidFile(data string) error {
	pid, _ := readPidFile(data)
	if pid == 0 || !runs(pid) {
		return nil
	}
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if command := strings.TrimSpace(string(name)); err == nil && command != "postgres" && command != "postmaster" {
		if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil {
			return fmt.Errorf("an earlier server left its postmaster.pid: %w", err)
		}
		return nil
	}
	return fmt.Errorf("a PostgreSQL server (process %d) already runs on data folder %s; "+
		"stop it with \"kill -INT %d\", or name another data folder", pid, data, pid)
}

// readPidFile returns the first line of postmaster.pid and the eighth, the server's state. Lines that do not exist yet
// are 0 and "".
func readPidFile(data string) (pid int, status string) {
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return 0, ""
	}
	lines := strings.Split(string(content), "\n")
	pid, err = strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return 0, ""
	}
	if len(lines) >= 8 {
		status = strings.TrimSpace(lines[7])
	}
	return max(pid, -pid), status
}

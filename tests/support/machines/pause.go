//go:build linux

package machines

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Pause stops the machine as a hypervisor does: nothing runs, and no packet leaves or arrives.
func (m *Machine) Pause() {
	m.w.t.Helper()
	m.unplug()
	m.stop(func(int) bool { return true })
}

// PausePostgres stops only PostgreSQL's processes. The kernel goes on: it acknowledges packets, and accepts connections
// that no process answers.
func (m *Machine) PausePostgres() {
	m.w.t.Helper()
	m.stop(isPostgres)
}

// Wake resumes everything.
func (m *Machine) Wake() {
	m.w.t.Helper()
	pids, err := m.pids()
	if err != nil {
		m.w.t.Fatal(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && err != syscall.ESRCH {
			m.w.t.Fatalf("%s: process %d does not wake: %v", m.name, pid, err)
		}
	}
	m.plug()
}

// stop repeats until it finds no process that began meanwhile.
func (m *Machine) stop(chosen func(pid int) bool) {
	m.w.t.Helper()
	stopped := map[int]bool{}
	for again := true; again; {
		again = false
		pids, err := m.pids()
		if err != nil {
			m.w.t.Fatal(err)
		}
		for _, pid := range pids {
			if stopped[pid] || !chosen(pid) {
				continue
			}
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && err != syscall.ESRCH {
				m.w.t.Fatalf("%s: process %d does not stop: %v", m.name, pid, err)
			}
			stopped[pid], again = true, true
		}
	}
}

// pids returns the machine's processes by their numbers in the world, without its PID 1.
func (m *Machine) pids() (pids []int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.init == nil {
		return nil, fmt.Errorf("%s has crashed", m.name)
	}
	own, err := os.Readlink(namespaceOf(m.init.Process.Pid))
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			return nil, err
		}
		namespace, err := os.Readlink(namespaceOf(pid))
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			return nil, err
		}
		if namespace == own && pid != m.init.Process.Pid {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func namespaceOf(pid int) string { return fmt.Sprintf("/proc/%d/ns/pid", pid) }

// isPostgres recognizes a server process by its program.
func isPostgres(pid int) bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && string(bytes.TrimSpace(name)) == "postgres"
}

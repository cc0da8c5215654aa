//go:build linux

package machines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const diskSize = 1 << 30

// Disk returns a folder of 1 GiB, at the same path for the tests and all machines. A crash leaves it as it is. Every
// user may write there, as in /tmp.
func (m *Machine) Disk() string { return filepath.Join(ground, "disk-"+m.name) }

func (m *Machine) makeDisk() {
	m.w.t.Helper()
	if err := os.Mkdir(m.Disk(), 0o755); err != nil {
		m.w.t.Fatal(err)
	}
	if err := mount("tmpfs", m.Disk(), "tmpfs", 0, fmt.Sprintf("mode=1777,size=%d", diskSize)); err != nil {
		m.w.t.Fatal(err)
	}
	// A tmpfs cannot shrink below one page.
	if err := os.WriteFile(filepath.Join(m.Disk(), ".disk"), []byte(m.name), 0o644); err != nil {
		m.w.t.Fatal(err)
	}
}

func (m *Machine) removeDisk() {
	m.w.t.Helper()
	if err := unix.Unmount(m.Disk(), unix.MNT_DETACH); err != nil {
		m.w.t.Errorf("the disk of %s: %v", m.name, err)
	}
	if err := os.Remove(m.Disk()); err != nil {
		m.w.t.Error(err)
	}
}

// Fill shrinks the disk to the size of its content, so that no room is left.
func (m *Machine) Fill() {
	m.w.t.Helper()
	for {
		var disk unix.Statfs_t
		if err := unix.Statfs(m.Disk(), &disk); err != nil {
			m.w.t.Fatal(err)
		}
		err := m.resize((disk.Blocks - disk.Bfree) * uint64(disk.Bsize))
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINVAL) { // else a program has written meanwhile
			m.w.t.Fatalf("the disk of %s cannot be filled: %v", m.name, err)
		}
	}
}

// Free restores the size of the disk.
func (m *Machine) Free() {
	m.w.t.Helper()
	if err := m.resize(diskSize); err != nil {
		m.w.t.Fatalf("the disk of %s cannot be freed: %v", m.name, err)
	}
}

func (m *Machine) resize(bytes uint64) error {
	return unix.Mount("tmpfs", m.Disk(), "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", bytes))
}

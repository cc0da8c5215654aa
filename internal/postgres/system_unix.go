//go:build unix

package postgres

import (
	"os"
	"syscall"
)

// checkSystem fails on a system that cannot run private servers.
func checkSystem() error { return nil }

// ownerOf is the user and the group of a file.
func ownerOf(info os.FileInfo) (uid, gid uint32, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return stat.Uid, stat.Gid, true
}

// lockFile locks a file, unless another process holds the lock.
func lockFile(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// unlockFile also unlocks it for a child that this process is just starting, and that has the file until it runs.
func unlockFile(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }

// runs says whether a process of that number exists.
func runs(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

//go:build unix

package postgres

import (
	"os"
	"syscall"
)

// checkSystem refuses a system on which no private server can be run.
func checkSystem() error { return nil }

// ownerOf is the user and the group that a file belongs to.
func ownerOf(info os.FileInfo) (uid, gid uint32, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return stat.Uid, stat.Gid, true
}

// lockFile takes the lock of a file, unless another process has it.
func lockFile(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// runs says whether there is a process of that number.
func runs(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

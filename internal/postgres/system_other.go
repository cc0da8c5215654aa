//go:build !unix

package postgres

import (
	"os"
	"runtime"
	"syscall"
)

// unsupportedError says that private servers cannot run on this system.
type unsupportedError struct{}

func (unsupportedError) Error() string {
	return "a private PostgreSQL is run on Unix only, and this is " + runtime.GOOS
}

// Hint says what to do instead.
func (unsupportedError) Hint() string {
	return "Install PostgreSQL from https://www.postgresql.org/download, or start it in Docker. Then give its URL: " +
		"--postgres postgres://user@host:port/name."
}

// checkSystem fails: locks, process groups and owners of files exist on Unix only. The functions below are never
// called.
func checkSystem() error { return unsupportedError{} }

func ownerOf(os.FileInfo) (uid, gid uint32, known bool) { return 0, 0, false }

func lockFile(*os.File) error { return checkSystem() }

func unlockFile(*os.File) error { return nil }

func runs(int) bool { return false }

func attributes(account) *syscall.SysProcAttr { return nil }

package server

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Cached returns a path in the user's cache that all test packages share, and a lock of it, taken as flock does with
// how. The lock is held until it is closed, or the process ends.
func Cached(name string, how int) (path string, lock *os.File, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(cache, "pgflurry-test", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", nil, err
	}
	if lock, err = os.Create(path + ".lock"); err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), how); err != nil {
		lock.Close()
		return "", nil, fmt.Errorf("%s: %w", lock.Name(), err)
	}
	return path, lock, nil
}

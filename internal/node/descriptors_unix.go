//go:build unix

package node

import "syscall"

// descriptors is how many descriptors the process may have open. Go's runtime has raised that limit to the hard one. 0
// means that no limit matters.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > 1<<30 {
		return 0
	}
	return int(limit.Cur)
}

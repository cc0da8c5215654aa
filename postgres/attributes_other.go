//go:build unix && !linux

package postgres

import "syscall"

// attributes: the server's user, and a process group of its own, so that Ctrl-C does not reach it.
func attributes(who account) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if who.switched {
		attributes.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	return attributes
}

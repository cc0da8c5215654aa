//go:build unix && !linux

package postgres

import "syscall"

// attributes sets the server's user. A process group of its own keeps Ctrl-C away from the server.
func attributes(who account) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if who.switched {
		attributes.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	return attributes
}

package postgres

import "syscall"

// attributes: the server's user; a process group of its own, so that Ctrl-C does not reach it; and a fast shutdown when
// this process's thread ends, so that even SIGKILL leaves no server behind.
func attributes(who account) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	if who.switched {
		attributes.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	return attributes
}

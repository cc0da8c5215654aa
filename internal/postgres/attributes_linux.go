package postgres

import "syscall"

// attributes sets the server's user. A process group of its own keeps Ctrl-C away from the server. If this process's
// thread ends, the server gets a fast shutdown, so even SIGKILL leaves no server behind.
func attributes(who account) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	if who.switched {
		attributes.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	return attributes
}

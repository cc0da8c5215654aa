package servers

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps Ctrl-C from a child, and ends it with this process, even one killed with SIGKILL.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

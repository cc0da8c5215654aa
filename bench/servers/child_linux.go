package servers

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps Ctrl-C away from a child, and ends the child with this process, even after SIGKILL.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

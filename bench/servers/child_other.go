//go:build unix && !linux

package servers

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps Ctrl-C away from a child.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

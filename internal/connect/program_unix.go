//go:build unix

package connect

import (
	"os/exec"
	"syscall"
)

// endWithChildren makes the end of a context end a program and what it has started.
func endWithChildren(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	program.Cancel = func() error { return syscall.Kill(-program.Process.Pid, syscall.SIGKILL) }
}

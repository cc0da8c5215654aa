//go:build unix

package connect

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a program into a process group of its own, which the end of its context ends. end ends what is left of
// the group after the program.
func ownGroup(program *exec.Cmd) (end func()) {
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-program.Process.Pid, syscall.SIGKILL) }
	program.Cancel = kill
	return func() {
		if program.Process != nil {
			_ = kill()
		}
	}
}

package program

import (
	"fmt"
	"os"
	"strings"
)

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// PeakMemory returns the greatest resident memory of the process so far, in bytes. It skips the test where the system
// does not report that.
func (p *Process) PeakMemory() int {
	p.t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		p.t.Skip("this system does not tell what memory a process has had: ", err)
	}
	_, rest, _ := strings.Cut(string(content), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		p.t.Fatalf("/proc tells no VmHWM: %v", err)
	}
	return kilobytes << 10
}

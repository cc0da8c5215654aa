package node

import (
	"os"
	"strings"
)

// unconnected is the state of a socket that neither is connected nor was.
const unconnected = "01"

// isHeld says whether a process has bound a socket to this path, even if it does not listen there. The answer is no
// where the kernel does not say.
func isHeld(path string) bool {
	table, err := os.ReadFile("/proc/net/unix") // number, references, protocol, flags, type, state, inode, path
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) > 7 && fields[5] == unconnected && strings.HasSuffix(line, " "+path+"\n") {
			return true
		}
	}
	return false
}

package report

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Machine is where a benchmark ran.
type Machine struct {
	Processor string `json:"processor"`
	CPUs      int    `json:"cpus"` // that this process may use
	System    string `json:"system"`
	Go        string `json:"go"`
}

var modelLine = regexp.MustCompile(`(?m)^model name\s*: (.+)$`)

// ThisMachine asks the system, and says "unknown" where that does not say.
func ThisMachine() Machine {
	m := Machine{
		Processor: "unknown processor", CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(),
	}
	if content, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if model := modelLine.FindSubmatch(content); model != nil {
			m.Processor = strings.TrimSpace(string(model[1]))
		}
	}
	if kernel, err := exec.Command("uname", "-sr").Output(); err == nil {
		version, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-") // what follows is whose build it is
		m.System = version + " " + runtime.GOARCH
	}
	return m
}

// Modules are the versions of those modules among the given ones that this program links, by path.
func Modules(paths ...string) map[string]string {
	versions := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if slices.Contains(paths, module.Path) {
				versions[module.Path] = module.Version
			}
		}
	}
	return versions
}

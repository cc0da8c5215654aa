package report

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Machine is where a benchmark ran.
type Machine struct {
	Processor string `json:"processor"`
	CPUs      int    `json:"cpus"` // that this process may use
	System    string `json:"system"`
	Go        string `json:"go"`
	// Load is the average number of processes that ran or wanted to in the minute before; 0 if it is not known.
	Load float64 `json:"load,omitempty"`
}

// busy says that others left this run less than half of the processors.
func (m Machine) busy() bool { return m.Load > float64(m.CPUs)/2 }

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
	if averages, err := os.ReadFile("/proc/loadavg"); err == nil {
		minute, _, _ := strings.Cut(string(averages), " ")
		m.Load, _ = strconv.ParseFloat(minute, 64) // without a number it is not known
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

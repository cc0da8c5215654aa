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
	CPUs      int    `json:"cpus"` // available to this process
	System    string `json:"system"`
	Go        string `json:"go"`
	// Load is the average number of processes that ran or wanted to, in the minute before; 0 if not known.
	Load float64 `json:"load,omitempty"`
}

var modelLine = regexp.MustCompile(`(?m)^model name\s*: (.+)$`)

// ThisMachine describes this machine, with "unknown" for what the system does not report.
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
		m.Load, _ = strconv.ParseFloat(minute, 64) // on error it stays 0, not known
	}
	if kernel, err := exec.Command("uname", "-sr").Output(); err == nil {
		version, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-") // the rest names the build
		m.System = version + " " + runtime.GOARCH
	}
	return m
}

// Modules are the versions of the given modules, by path, if this program links them.
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

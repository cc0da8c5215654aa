package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"pgflurry/internal/config/source"
	"pgflurry/internal/fault"
)

// A running is another process of this machine or container that runs "pgflurry serve". It is what /proc says of it, so
// only Linux has it.
type running struct {
	pid     int
	flags   []string // its command line behind "serve"
	environ []string
}

// findRunning looks at a process, or finds the only one that runs "pgflurry serve" if pid is 0. In a container with an
// init process that is not process 1.
func findRunning(pid int) (*running, error) {
	if pid != 0 {
		return lookAt(pid)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("the processes cannot be listed: %w", err)
	}
	var found []*running
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if r, err := lookAt(pid); err == nil {
				found = append(found, r)
			}
		}
	}
	if len(found) != 1 {
		return nil, fault.WithHint(fmt.Errorf("%d processes run \"pgflurry serve\" here; expected one", len(found)),
			"Of several, choose one by its process ID or its address. None is shown that belongs to another account.")
	}
	return found[0], nil
}

// lookAt finds out whether a process is a running proxy.
func lookAt(pid int) (*running, error) {
	line, err := readProc(pid, "cmdline")
	if err != nil {
		return nil, err
	}
	name := filepath.Base(line[0])
	if serve := slices.Index(line, "serve"); serve > 0 && strings.HasPrefix(name, "pgflurry") {
		environ, err := readProc(pid, "environ")
		return &running{pid: pid, flags: line[serve+1:], environ: environ}, err
	}
	return nil, fmt.Errorf("process %d is %s; expected \"pgflurry serve\"", pid, name)
}

// readProc reads a list of texts from a file of /proc.
func readProc(pid int, name string) ([]string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no process %d, or this system has no /proc", pid)
	case err != nil:
		return nil, fault.WithHint(fmt.Errorf("process %d cannot be looked at: %w", pid, err),
			"Run this as the account of that process, or as root.")
	}
	return strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00"), nil
}

// options are those of the proxy: its command line, its environment and its configuration file.
func (r *running) options() *serveOptions {
	var o serveOptions
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.add(flags)
	_ = flags.Parse(r.flags) // serve has accepted them
	source.Read(flags, r.environ)
	return &o
}

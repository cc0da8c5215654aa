package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"pgflurry/hint"
)

// A running is another process of this machine or container that runs "pgflurry serve". It is what /proc says of it, so
// only Linux has it.
type running struct {
	pid     int
	flags   []string // its command line behind "serve"
	environ []string
}

// findRunning finds out whether a process is a running proxy.
func findRunning(pid int) (*running, error) {
	line, err := readProc(pid, "cmdline")
	if err != nil {
		return nil, err
	}
	serve := slices.Index(line, "serve")
	if serve < 1 || !strings.HasPrefix(filepath.Base(line[0]), "pgflurry") {
		return nil, hint.With(fmt.Errorf("process %d is %s; expected \"pgflurry serve\"", pid, filepath.Base(line[0])),
			"Give its process ID with --pid. In a container it is 1.")
	}
	environ, err := readProc(pid, "environ")
	if err != nil {
		return nil, err
	}
	return &running{pid: pid, flags: line[serve+1:], environ: environ}, nil
}

// readProc reads a list of texts from a file of /proc.
func readProc(pid int, name string) ([]string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, hint.With(fmt.Errorf("there is no process %d, or this system has no /proc", pid),
			"Give the process ID of \"pgflurry serve\" with --pid. In a container it is 1.")
	case err != nil:
		return nil, hint.With(fmt.Errorf("process %d cannot be looked at: %w", pid, err),
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
	configure(flags, r.environ)
	return &o
}

package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is what was built, in one word, for the table of leases.
func version() string { return readBuild().version() }

// longVersion is the same for people who ask for it.
func longVersion() string { return readBuild().String() }

// build is what the Go tool has written into a program.
type build struct {
	module   string // version of the module; empty: not known
	revision string // of the commit; empty: it was built without version control, such as from a tarball
	at       string // time of the commit
	modified bool   // the files differed from the commit
}

// shortRevision is how much of a revision is shown. Go's own pseudo-versions have as much.
const shortRevision = 12

func readBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) (b build) {
	if v := info.Main.Version; v != "(devel)" {
		b.module = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value[:min(shortRevision, len(s.Value))]
		case "vcs.time":
			b.at = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	if b.revision != "" && strings.Contains(b.module, b.revision) {
		b.module = "" // a pseudo-version, which Go makes of a commit without a tag
	}
	return b
}

// version is the module's version, else the commit, else that nothing is known.
func (b build) version() string {
	switch {
	case b.module != "":
		return b.module // +dirty, if modified
	case b.revision == "":
		return "devel"
	case b.modified:
		return "devel-" + b.revision + "-modified"
	}
	return "devel-" + b.revision
}

func (b build) String() string {
	commit := "commit unknown"
	if b.revision != "" {
		commit = fmt.Sprintf("commit %s of %s", b.revision, cmp.Or(b.at, "an unknown time"))
	}
	if b.modified {
		commit += ", modified"
	}
	if b.module != "" && b.revision == "" {
		commit = "module"
	}
	return fmt.Sprintf("%s (%s; %s %s/%s)", b.version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is what was built, in one word, for the table of leases.
func version() string { return readBuild().version() }

// longVersion is the same for people who ask for it.
func longVersion() string { return readBuild().String() }

// givenRevision is the commit, said by whoever builds where the Go tool sees no version control:
// -ldflags "-X main.givenRevision=…", as docker/Dockerfile does.
var givenRevision string

// build is what the Go tool has written into a program.
type build struct {
	module   string // version of the module; empty: not known
	revision string // of the commit; empty: nobody knows it, such as of a tarball
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
	return buildOf(info, givenRevision)
}

func buildOf(info *debug.BuildInfo, given string) (b build) {
	b.revision = shortened(given)
	if v := info.Main.Version; v != "(devel)" {
		b.module = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = shortened(s.Value)
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

func shortened(revision string) string { return revision[:min(shortRevision, len(revision))] }

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
		commit = "commit " + b.revision
	}
	if b.at != "" {
		commit += " of " + b.at
	}
	if b.modified {
		commit += ", modified"
	}
	if b.module != "" && b.revision == "" {
		commit = "module"
	}
	return fmt.Sprintf("%s (%s; %s %s/%s)", b.version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

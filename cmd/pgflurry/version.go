package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is the build in one word, for the worker table.
func version() string { return readBuild().version() }

// longVersion is the build in full, for people.
func longVersion() string { return readBuild().String() }

// givenRevision is the commit, and givenVersion the version, if the builder gives them: -ldflags
// "-X main.givenRevision=…". docker/build does so: the Go tool sees no version control where the image is built.
var givenRevision, givenVersion string

// build is what the Go tool records in a program.
type build struct {
	module   string // version of the module; empty: unknown
	revision string // of the commit; empty: unknown, for example of a tarball
	at       string // time of the commit
	modified bool   // the files differed from the commit
}

// shortRevision is how many characters of a revision are shown: as many as in Go's pseudo-versions.
const shortRevision = 12

func readBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{}
	}
	b := buildOf(info, givenRevision)
	b.module = cmp.Or(givenVersion, b.module)
	return b
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
		b.module = "" // it is a pseudo-version, from a commit without a tag
	}
	return b
}

func shortened(revision string) string { return revision[:min(shortRevision, len(revision))] }

// version is the module's version, or else the commit, or else "devel".
func (b build) version() string {
	switch {
	case b.module != "":
		return b.module // ends in +dirty if files were modified
	case b.revision == "":
		return "devel"
	case b.modified:
		return "devel-" + b.revision + "-modified"
	}
	return "devel-" + b.revision
}

// commit is the commit, or "unknown".
func (b build) commit() string { return cmp.Or(b.revision, "unknown") }

func (b build) String() string {
	commit := "commit " + b.commit()
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

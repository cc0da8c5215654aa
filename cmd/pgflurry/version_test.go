package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheVersionIsTheModulesElseTheCommitElseDevel(t *testing.T) {
	const revision, at = "1a2b3c4d5e6f708192a3b4c5d6e7f80912345678", "2026-11-22T16:00:00Z"
	for name, c := range map[string]struct {
		module, revision, modified string
		short, long                string
	}{
		"a checkout":             {"v0.0.0-20261122160000-1a2b3c4d5e6f", revision, "false", "devel-1a2b3c4d5e6f", "devel-1a2b3c4d5e6f (commit 1a2b3c4d5e6f of 2026-11-22T16:00:00Z; go"},
		"a modified checkout":    {"v0.0.0-20261122160000-1a2b3c4d5e6f+dirty", revision, "true", "devel-1a2b3c4d5e6f-modified", "devel-1a2b3c4d5e6f-modified (commit 1a2b3c4d5e6f of 2026-11-22T16:00:00Z, modified; go"},
		"a checkout of a tag":    {"v1.2.3", revision, "false", "v1.2.3", "v1.2.3 (commit 1a2b3c4d5e6f of 2026-11-22T16:00:00Z; go"},
		"a module":               {"v1.2.3", "", "", "v1.2.3", "v1.2.3 (module; go"},
		"a module of a commit":   {"v0.0.0-20261122160000-1a2b3c4d5e6f", "", "", "v0.0.0-20261122160000-1a2b3c4d5e6f", "v0.0.0-20261122160000-1a2b3c4d5e6f (module; go"},
		"a tarball":              {"(devel)", "", "", "devel", "devel (commit unknown; go"},
		"a test, or nothing set": {"", "", "", "devel", "devel (commit unknown; go"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}}
		if c.revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: c.revision}, {Key: "vcs.time", Value: at}, {Key: "vcs.modified", Value: c.modified}}
		}
		b := buildOf(info)
		if b.version() != c.short || !strings.HasPrefix(b.String(), c.long) {
			t.Errorf("%s: %s, %s\nexpected %s, %s", name, b.version(), b, c.short, c.long)
		}
	}
}

package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheVersionIsTheModulesElseTheCommitElseDevel(t *testing.T) {
	const revision, at = "1a2b3c4d5e6f708192a3b4c5d6e7f80912345678", "2026-11-22T16:00:00Z"
	const pseudo, commit = "v0.0.0-20261122160000-1a2b3c4d5e6f", "commit 1a2b3c4d5e6f of " + at
	for name, c := range map[string]struct {
		module, revision, modified, given string
		short, long                       string
	}{
		"a checkout": {pseudo, revision, "false", "", "devel-1a2b3c4d5e6f", commit + "; go"},
		"a modified checkout": {
			pseudo + "+dirty", revision, "true", "", "devel-1a2b3c4d5e6f-modified", commit + ", modified; go",
		},
		"a checkout of a tag":    {"v1.2.3", revision, "false", "", "v1.2.3", commit + "; go"},
		"a module":               {"v1.2.3", "", "", "", "v1.2.3", "module; go"},
		"a module of a commit":   {pseudo, "", "", "", pseudo, "module; go"},
		"a tarball":              {"(devel)", "", "", "", "devel", "commit unknown; go"},
		"an image":               {"(devel)", "", "", revision, "devel-1a2b3c4d5e6f", "commit 1a2b3c4d5e6f; go"},
		"an image of a branch":   {"(devel)", "", "", "main", "devel-main", "commit main; go"},
		"a given commit is less": {pseudo, revision, "false", "other", "devel-1a2b3c4d5e6f", commit + "; go"},
		"a test, or nothing set": {"", "", "", "", "devel", "commit unknown; go"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}}
		if c.revision != "" {
			info.Settings = []debug.BuildSetting{
				{Key: "vcs.revision", Value: c.revision},
				{Key: "vcs.time", Value: at},
				{Key: "vcs.modified", Value: c.modified},
			}
		}
		b := buildOf(info, c.given)
		if long := c.short + " (" + c.long; b.version() != c.short || !strings.HasPrefix(b.String(), long) {
			t.Errorf("%s: %s, %s\nexpected %s, %s", name, b.version(), b, c.short, long)
		}
	}
}

package servers

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestAProgramIsTiedToItsCommitItsVersionOrItsHash(t *testing.T) {
	stamped := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for want, info := range map[string]*debug.BuildInfo{
		"commit 0123456789ab": stamped("v0.0.0-x", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
		"commit 0123456789ab and changes": stamped("(devel)", revision,
			debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
		"v1.2.3": stamped("v1.2.3"),
		"":       stamped("(devel)"),
	} {
		if got := stampOf(info); got != want {
			t.Errorf("%+v: %q; expected %q", info, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	if of, err := Built(file); err != nil || of != "program with SHA-256 7692c3ad3540bb80…" {
		t.Errorf("%q, error %v", of, err)
	}
}

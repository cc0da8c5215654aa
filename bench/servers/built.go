package servers

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// Built identifies the source of a Go program: by the commit that `go build` stamps in a checkout, or by its released
// version. Without both it is the beginning of the file's SHA-256. So results at least show whether two runs used the
// same program.
func Built(path string) (string, error) {
	if info, err := buildinfo.ReadFile(path); err == nil {
		if of := stampOf(info); of != "" {
			return of, nil
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("program with SHA-256 %.8x…", sha256.Sum256(content)), nil
}

// commit is how many digits of a commit are shown.
const commit = 12

// stampOf is the commit or the version of a program; empty if it has neither.
func stampOf(info *debug.BuildInfo) string {
	stamped := make(map[string]string)
	for _, s := range info.Settings {
		stamped[s.Key] = s.Value
	}
	switch revision := stamped["vcs.revision"]; {
	case len(revision) >= commit && stamped["vcs.modified"] == "true":
		return "commit " + revision[:commit] + " and changes"
	case len(revision) >= commit:
		return "commit " + revision[:commit]
	case strings.HasPrefix(info.Main.Version, "v"):
		return info.Main.Version
	}
	return ""
}

//go:build full

package upgrade

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

var errNoRelease = errors.New("there is no older release to build: no tag v… is known here")

// oldProgram builds the program that will be replaced. There is none before the first release, or in a tree without its
// history. Then the test is skipped, or fails if PGFLURRY_TEST_UPGRADE is 1.
func oldProgram(t *testing.T) (path, commit string) {
	t.Helper()
	commit, err := oldCommit()
	switch {
	case errors.Is(err, errNoRelease) && os.Getenv("PGFLURRY_TEST_UPGRADE") != "1":
		t.Skipf("%v; PGFLURRY_TEST_UPGRADE=1 makes this a failure, PGFLURRY_TEST_OLD names a commit instead", err)
	case err != nil:
		t.Fatal(err)
	}
	tree, source := filepath.Join(t.TempDir(), "old.tar"), t.TempDir()
	if _, err := git("archive", "--output", tree, commit); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-x", "-f", tree, "-C", source).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	path = filepath.Join(t.TempDir(), "pgflurry-old")
	// With -trimpath Go's cache recognizes the packages in any folder.
	out, err := exec.Command("go", "-C", source, "build", "-trimpath", "-ldflags", "-X main.givenRevision="+commit,
		"-o", path, "./cmd/pgflurry").CombinedOutput()
	if err != nil {
		t.Fatalf("building commit %s: %v\n%s", commit, err, out)
	}
	return path, commit
}

// oldCommit returns the commit of the last release. The tip of a clean tree is this program, and no older one.
func oldCommit() (string, error) {
	if chosen := os.Getenv("PGFLURRY_TEST_OLD"); chosen != "" {
		return git("rev-parse", "--verify", "--quiet", chosen+"^{commit}")
	}
	tip := "HEAD"
	if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil {
		return "", fmt.Errorf("%w (%v)", errNoRelease, err)
	} else if changed == "" {
		tip = "HEAD^"
	}
	tag, err := git("describe", "--tags", "--match", "v*", "--abbrev=0", tip)
	if err != nil {
		return "", fmt.Errorf("%w (%v)", errNoRelease, err)
	}
	return git("rev-parse", "--verify", tag+"^{commit}")
}

// git runs git in the repository of these tests. In the root folder, archive takes the whole tree.
func git(args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = filepath.Join("..", "..")
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

package upgrade

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
)

func TestMain(m *testing.M) { program.Main(m) }

var errNoHistory = errors.New("there is no older commit to build: this is no Git repository, or a shallow one")

// oldProgram builds the program that will be replaced. In a tree without its repository there is no history: then the
// test is skipped, or fails if PGFLURRY_TEST_UPGRADE is 1.
func oldProgram(t *testing.T) (path, commit string) {
	t.Helper()
	commit, err := oldCommit()
	switch {
	case errors.Is(err, errNoHistory) && os.Getenv("PGFLURRY_TEST_UPGRADE") != "1":
		t.Skipf("%v; PGFLURRY_TEST_UPGRADE=1 makes this a failure", err)
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
	tip := "HEAD"
	if chosen := os.Getenv("PGFLURRY_TEST_OLD"); chosen != "" {
		tip = chosen
	} else {
		changed, err := git("status", "--porcelain", "--untracked-files=no")
		if err != nil {
			return "", fmt.Errorf("%w (%v)", errNoHistory, err)
		}
		if changed == "" {
			tip = "HEAD^"
		}
		if tag, err := git("describe", "--tags", "--match", "v*", "--abbrev=0", tip); err == nil {
			tip = tag
		}
	}
	commit, err := git("rev-parse", "--verify", "--quiet", tip+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w (%s: %v)", errNoHistory, tip, err)
	}
	return commit, nil
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

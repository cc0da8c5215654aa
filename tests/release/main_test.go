//go:build full && linux

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

func TestMain(m *testing.M) { server.Main(m) }

const (
	module     = "git.example.org/team/pgflurry"
	docs       = "https://git.example.org/team/pgflurry/docs"
	maintainer = "Mary Maintainer <mary@example.org>"
	licence    = "Everybody may do with this program what a test does.\n"
	first      = "v0.1.0"
	second     = "v0.1.1" // the same with another commit
)

// here is the system of this machine, the only one of an everyday release.
var here = runtime.GOOS + "/" + runtime.GOARCH

// asked skips the test where nobody asked for it: it takes minutes, and modules that the product does not need.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_RELEASE") != "1" {
		t.Skip("PGFLURRY_TEST_RELEASE is not 1")
	}
}

var (
	work     string // the folder of all trees
	makeTree sync.Once
	treeErr  error
)

// tree returns a repository with two tags, made of what would be committed here, and with a module path.
func tree(t *testing.T) string {
	t.Helper()
	asked(t)
	makeTree.Do(func() { treeErr = newTree() })
	if treeErr != nil {
		t.Fatal(treeErr)
	}
	return filepath.Join(work, "tree")
}

func newTree() (err error) {
	if work, err = os.MkdirTemp("", "pgflurry-test-release-"); err != nil {
		return err
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", `
		mkdir "$1"
		git ls-files -z --cached --others --exclude-standard |
			while IFS= read -rd '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
			tar --create --null --files-from - | tar --extract --directory "$1"
		cd "$1"
		git init --quiet --initial-branch main
		git add --all
		make --silent module MODULE="$2"
		commit() { git commit --quiet --all --message "$1" && git tag --annotate --message "$1" "$1"; }
		commit "$3"
		echo "A line more." >>CHANGELOG.md
		commit "$4"
	`, "-", filepath.Join(work, "tree"), module, first, second)
	cmd.Dir = "../.."
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=Mary", "GIT_"+who+"_EMAIL=mary@example.org",
			"GIT_"+who+"_DATE=2026-01-02T03:04:05Z")
	}
	cmd.Env = append(os.Environ(), cmd.Env...)
	return said(cmd)
}

// said runs a command, and an error has what it said.
func said(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return &failure{strings.Join(cmd.Args, " "), string(out), err}
	}
	return nil
}

type failure struct {
	command, out string
	err          error
}

func (f *failure) Error() string { return f.command + ": " + f.err.Error() + "\n" + f.out }
func (f *failure) Unwrap() error { return f.err }

// checkout is a clone of the tree, at a tag.
func checkout(t *testing.T, version, folder string) string {
	t.Helper()
	from := tree(t)
	at := filepath.Join(work, folder)
	if _, err := os.Stat(at); err == nil {
		return at
	}
	clone := exec.Command("git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--branch", version, from, at)
	if err := said(clone); err != nil {
		t.Fatal(err)
	}
	return at
}

// release makes a release in a checkout, of all targets at night. Others of the same tag share it.
func release(t *testing.T, version, folder string, environ ...string) string {
	t.Helper()
	at := checkout(t, version, folder)
	made := filepath.Join(at, "dist", version)
	if _, err := os.Stat(made); err == nil {
		return made
	}
	cmd := command(at, "VERSION="+version, "LICENSE="+licenceFile(t), "MODULE="+module, "DOCS="+docs,
		"MAINTAINER="+maintainer, "TARGETS="+volume.Of(here, ""))
	cmd.Env = append(cmd.Env, environ...)
	if err := said(cmd); err != nil {
		t.Fatal(err)
	}
	return made
}

func command(at string, variables ...string) *exec.Cmd {
	cmd := exec.Command("make", append([]string{"--silent", "-C", at, "release"}, variables...)...)
	cmd.Env = append(os.Environ(), "MAKEFLAGS=")
	return cmd
}

func licenceFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "LICENSE")
	if err := os.WriteFile(path, []byte(licence), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

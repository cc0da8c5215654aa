//go:build full

package product

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestTheProgramSaysWhatItWasBuiltFromAndTheLeaseSaysTheSame(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "pgflurry")
	said := func(vcs string) string {
		build := exec.Command("go", "build", "-buildvcs="+vcs, "-o", binary, "pgflurry/cmd/pgflurry")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(binary, "--version").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	with := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	if out := said("false"); out != "pgflurry version devel (commit unknown; "+with+")\n" {
		t.Errorf("as from a tarball: %s", out)
	}
	out, want := said("auto"), "(commit unknown; "
	if folder, err := os.Stat("../../.git"); err == nil && folder.IsDir() {
		// This is no tarball. In a worktree .git is a file, and the Go tool finds no commit.
		revision, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
		if err != nil {
			t.Fatal(err)
		}
		want = "(commit " + strings.TrimSpace(string(revision)) + " of "
	}
	if !strings.Contains(out, want) || !strings.Contains(out, with) {
		t.Errorf("%sexpected %s and %s", out, want, with)
	}

	direct := server.Migrated(t)
	p := program.StartCommand(t, exec.Command(binary, program.ServeArgs(t, direct, "versioned")...)).Proxy(direct)
	p.Leased()
	short := regexp.MustCompile(`^pgflurry version (\S+) \(`).FindStringSubmatch(out)
	const statement = "SELECT version FROM pgflurry.worker WHERE node = 'versioned'"
	row := server.Value[string](t, server.Connect(t, direct), statement)
	if short == nil || row != short[1] {
		t.Errorf("the lease is of version %s; the program says %s", row, out)
	}
}

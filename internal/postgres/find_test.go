package postgres

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install creates a fake installation that prints the given version, in a new folder.
func install(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian)'\n"
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNewestInstallationWins(t *testing.T) {
	old, newest, other := install(t, "15.9"), install(t, "18beta1"), install(t, "17.2")
	got, err := findIn([]string{old, newest, other}, true)
	if err != nil || got.Dir != newest || got.Version != "18beta1" || got.Major != 18 {
		t.Errorf("got %+v, %v; expected 18beta1 in %s", got, err, newest)
	}
}

func TestFolderAboveBinAndALinkLeadToTheInstallation(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "bin")
	if err := os.Rename(install(t, "16.1"), dir); err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{top, links} {
		if got, err := Find(named); err != nil || got.Dir != dir {
			t.Errorf("Find(%s) = %+v, %v; expected %s", named, got, err, dir)
		}
	}
}

func TestOldVersionIsNamedInTheError(t *testing.T) {
	_, err := Find(install(t, "13.4"))
	if err == nil || !strings.Contains(err.Error(), "holds PostgreSQL 13.4, which is older than 15") {
		t.Error(err)
	}
}

func TestBrokenInstallationsAreNamedInTheError(t *testing.T) {
	half, broken := install(t, "17.1"), install(t, "17.1\nexit 3\n")
	if err := os.Remove(filepath.Join(half, "initdb")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "postgres"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := findIn([]string{half, broken}, true)
	for _, want := range []string{half + " holds postgres but no initdb", "postgres does not run: exit status 3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

func TestNothingFoundSaysWhereAndHowToInstall(t *testing.T) {
	empty := t.TempDir()
	_, err := Find(empty)
	missing, ok := errors.AsType[*notFoundError](err)
	if !ok || !strings.Contains(err.Error(), "looked in "+empty) {
		t.Fatal(err)
	}
	if !strings.Contains(missing.Hint(), "install") {
		t.Error(missing.Hint())
	}
}

func TestInstallCommandFitsTheMachine(t *testing.T) {
	cases := []struct {
		goos, release string
		root          bool
		want          string
	}{
		{"linux", "ID=debian\nVERSION_ID=\"12\"\n", true, "apt-get install postgresql"},
		{"linux", "NAME=Mint\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", false, "sudo apt-get install postgresql"},
		{"linux", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", false, "sudo dnf install postgresql-server"},
		{
			"linux", "ID=\"rhel\"\nID_LIKE=\"fedora\"\nPLATFORM_ID=\"platform:el9\"\n", true,
			"dnf module install postgresql:15/server",
		},
		{"linux", "ID=arch\n", false, "sudo pacman -S postgresql"},
		{"linux", "ID=alpine\n", true, "apk add postgresql"},
		{"darwin", "", false, "brew install postgresql@17"},
		{"linux", "", true, "apt-get install postgresql (Debian, Ubuntu), " +
			"dnf install postgresql-server (Fedora, RHEL), brew install postgresql@17 (Homebrew)"},
	}
	for _, c := range cases {
		if got := installCommand(c.goos, c.release, c.root); got != c.want {
			t.Errorf("%s, %q: %q, expected %q", c.goos, c.release, got, c.want)
		}
	}
}

func TestNamedFolderIsNotReplacedByDocker(t *testing.T) {
	_, err := Locate(context.Background(), t.TempDir(), "")
	if _, ok := errors.AsType[*notFoundError](err); !ok {
		t.Errorf("got %v, expected a notFoundError", err)
	}
	if _, err := Locate(context.Background(), "/one", "two"); err == nil {
		t.Error("a folder and an image together are taken")
	}
}

func TestADockerThatHangsOrFailsIsNamedInOneSentence(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for script, want := range map[string]string{
		"exec tail -f /dev/null": "Docker does not answer within 2s; is its service running?",
		"exit 3":                 "Docker does not answer (exit status 3); it said nothing",
		"echo no daemon; exit 1": "Docker does not answer (exit status 1); it said: no daemon",
	} {
		if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := findDocker(t.Context(), DefaultImage); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}

func TestLocateSaysThatDockerIsNotThereEither(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := findDocker(context.Background(), DefaultImage)
	if err == nil || !strings.Contains(err.Error(), "no docker command on PATH") {
		t.Error(err)
	}
}

//go:build full && linux

package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgflurry/internal/namespace"
	"pgflurry/tests/support/volume"
)

// read returns the files of a folder by name.
func read(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestWithoutTheDecisionsOfPeopleNothingIsMadeAndAllThatIsMissingIsNamed(t *testing.T) {
	asked(t)
	out, err := command("../..", "LICENSE=", "MODULE=pgflurry").CombinedOutput()
	for _, text := range []string{
		"VERSION=v0.1.0", "LICENSE=FILE", "MODULE=git.example.org", "DOCS=https", "MAINTAINER='Name", "CONTRIBUTING.md",
	} {
		if err == nil || !strings.Contains(string(out), text) {
			t.Errorf("error %v, and it does not name %s:\n%s", err, text, out)
		}
	}
}

func TestAReleaseIsMadeOfItsTagAlone(t *testing.T) {
	at := checkout(t, first, "changed")
	given := []string{"LICENSE=" + licenceFile(t), "MODULE=" + module, "DOCS=" + docs, "MAINTAINER=" + maintainer}
	try := func(version, want string) {
		t.Helper()
		out, err := command(at, append(given, "VERSION="+version)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: error %v, expected %q in\n%s", version, err, want, out)
		}
	}
	try("v9.9.9", "there is no tag v9.9.9: git tag -a v9.9.9")
	try(second, "the checkout is not the tag: git checkout "+second)
	if err := os.WriteFile(filepath.Join(at, "CHANGELOG.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	try(first, "files differ from the tag")
	if _, err := os.Stat(filepath.Join(at, "dist")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused release has made its folder: %v", err)
	}
}

func TestTheSameTagInAnotherFolderGivesTheSameBytes(t *testing.T) {
	one := read(t, release(t, first, "one"))
	// At night nothing of the first build is used again.
	environ := volume.Of(nil, []string{"GOCACHE=" + t.TempDir()})
	other := read(t, release(t, first, "deep/below/another", environ...))
	if a, b := slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(other)); !slices.Equal(a, b) || len(a) == 0 {
		t.Fatalf("the files differ: %v, %v", a, b)
	}
	for name := range one {
		if !bytes.Equal(one[name], other[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestAReleaseHasEachSystemAndWhatGoesWithIt(t *testing.T) {
	folder := release(t, first, "one")
	var want []string
	for _, system := range volume.Of([]string{runtime.GOOS}, []string{"linux", "darwin", "freebsd", "windows"}) {
		for _, arch := range volume.Of([]string{runtime.GOARCH}, []string{"amd64", "arm64"}) {
			base := "pgflurry_0.1.0_" + system + "_" + arch
			suffix := ".tar.gz"
			if system == "windows" {
				suffix = ".zip"
			}
			want = append(want, base+suffix, base+".cdx.json")
			if system == "linux" {
				want = append(want, "pgflurry_0.1.0_"+arch+".deb",
					"pgflurry-0.1.0-1."+map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]+".rpm")
			}
		}
	}
	want = append(want, "SHA256SUMS")
	slices.Sort(want)
	if files := slices.Sorted(maps.Keys(read(t, folder))); !slices.Equal(files, want) {
		t.Errorf("there are\n%v\nexpected\n%v", files, want)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	check.Dir = folder
	if err := said(check); err != nil {
		t.Error(err)
	}
}

// unpacked unpacks the archive of this machine's system, and returns its only folder.
func unpacked(t *testing.T) string {
	t.Helper()
	name := "pgflurry_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	content := read(t, release(t, first, "one"))[name+".tar.gz"]
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(zipped); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || !strings.HasPrefix(head.Name, name+"/") || head.Uid != 0 || head.Uname != "root" {
			t.Fatalf("%v, %+v", err, head)
		}
	}
	dir := t.TempDir()
	unpack := exec.Command("tar", "--extract", "--gzip", "--no-same-owner", "--directory", dir)
	unpack.Stdin = bytes.NewReader(content)
	if err := said(unpack); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func TestTheProgramOfAReleaseNamesTagCommitAndSchema(t *testing.T) {
	folder := unpacked(t)
	commit, err := exec.Command("git", "-C", tree(t), "rev-parse", "--short=12", first+"^{commit}").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(folder, "pgflurry"), "version").Output()
	want := fmt.Sprintf("pgflurry v0.1.0 (commit %s of 2026-01-02T03:04:05Z; %s %s)\nschema revision %d\n",
		bytes.TrimSpace(commit), runtime.Version(), here, namespace.Revision)
	if err != nil || string(out) != want {
		t.Errorf("%v: %s, expected %s", err, out, want)
	}
}

func TestTheSBOMHasAllThatTheProgramLinksAndTheNoticesHaveItsLicences(t *testing.T) {
	folder := unpacked(t)
	info, err := buildinfo.ReadFile(filepath.Join(folder, "pgflurry"))
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		Format   string `json:"bomFormat"`
		Metadata struct {
			Component struct{ Name, Version, Purl string }
		}
		Components []struct{ Name, Version string }
	}
	text := read(t, release(t, first, "one"))[filepath.Base(folder)+".cdx.json"]
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	of := bom.Metadata.Component
	if bom.Format != "CycloneDX" || of.Name != module || of.Version != first ||
		of.Purl != "pkg:golang/"+module+"@"+first {
		t.Errorf("it is of another program: %+v", bom.Metadata)
	}
	listed := make(map[string]string)
	for _, c := range bom.Components {
		listed[c.Name] = c.Version
	}
	notices, err := os.ReadFile(filepath.Join(folder, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, linked := range info.Deps {
		if listed[linked.Path] != linked.Version {
			t.Errorf("%s %s is listed as %q", linked.Path, linked.Version, listed[linked.Path])
		}
		text := regexp.MustCompile(`(?mi)^` + regexp.QuoteMeta(linked.Path+" "+linked.Version) + `, licen[sc]e`)
		if !text.Match(notices) {
			t.Errorf("NOTICE has no licence of %s %s", linked.Path, linked.Version)
		}
	}
	if len(info.Deps) < 10 || len(listed) != len(info.Deps)+1 {
		t.Errorf("%d modules are linked, %d components are listed", len(info.Deps), len(listed))
	}
}

func TestARunbookIsReadWhereTheReleaseSaysSo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(unpacked(t), "deploy/prometheus/alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	urls := regexp.MustCompile(`(?m)^ +runbook_url: (\S+)$`).FindAllSubmatch(text, -1)
	for _, url := range urls {
		if !strings.HasPrefix(string(url[1]), docs+"/") {
			t.Errorf("%s is not below %s", url[1], docs)
		}
	}
	if len(urls) < 10 || bytes.Contains(text, []byte("pgflurry.example")) {
		t.Errorf("%d runbooks in\n%s", len(urls), text)
	}
}

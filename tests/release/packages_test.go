//go:build full && linux

package release

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/server"
)

func deb(t *testing.T, version, folder string) string {
	t.Helper()
	return filepath.Join(release(t, version, folder), "pgflurry_"+version[1:]+"_"+runtime.GOARCH+".deb")
}

func rpm(t *testing.T, version, folder string) string {
	t.Helper()
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	return filepath.Join(release(t, version, folder), "pgflurry-"+version[1:]+"-1."+arch+".rpm")
}

// place copies a package into the root.
func (r root) place(path string) string {
	r.t.Helper()
	if err := said(exec.Command("cp", path, r.at("/"))); err != nil {
		r.t.Fatal(err)
	}
	return "/" + filepath.Base(path)
}

// installed are files that both packages have.
var installed = []string{
	"/usr/bin/pgflurry", "/etc/pgflurry/pgflurry.toml", "/usr/lib/systemd/system/pgflurry.service",
	"/usr/lib/systemd/system/pgflurry.socket", "/usr/share/bash-completion/completions/pgflurry",
	"/usr/share/doc/pgflurry/sbom.cdx.json", "/usr/share/doc/pgflurry/examples/prometheus/alerts.yaml",
}

func (r root) expectFiles(there bool) {
	r.t.Helper()
	for _, path := range installed {
		if r.has(path) != there {
			r.t.Errorf("%s is there: %v, expected %v", path, !there, there)
		}
	}
}

func (r root) expectCalls(want ...string) {
	r.t.Helper()
	if calls := r.calls(); !slices.Equal(calls, want) {
		r.t.Errorf("systemctl was called with %q, expected %q", calls, want)
	}
}

func (r root) expectVersion(version string) {
	r.t.Helper()
	if out := r.run("pgflurry", "version"); !strings.HasPrefix(out, "pgflurry "+version+" (") {
		r.t.Errorf("it is %s, expected %s", out, version)
	}
}

func (r root) hasUser() bool { return strings.Contains(r.read("/etc/passwd"), "\npgflurry:") }

func TestTheDebianPackageInstallsStartsUpgradesAndLeavesNothing(t *testing.T) {
	one, two := deb(t, first, "one"), deb(t, second, "two")
	r, direct := bareDebian(t), server.Migrated(t)
	said := r.run("dpkg", "--install", r.place(one))
	if !strings.Contains(said, "systemctl enable --now pgflurry.socket pgflurry.service") {
		t.Errorf("it does not say what to do next: %s", said)
	}
	r.expectFiles(true)
	r.expectVersion(first)
	r.expectCalls("daemon-reload") // nothing starts, because it has no database yet
	if notice := r.read("/usr/share/doc/pgflurry/copyright"); !r.hasUser() || !strings.HasPrefix(notice, licence) ||
		!strings.Contains(notice, "github.com/jackc/pgx/v5") {
		t.Errorf("user: %v, licences: %.200s", r.hasUser(), notice)
	}
	settings := r.configure(direct)
	proxy := r.serve(direct)

	said = r.run("dpkg", "--install", r.place(two))
	r.expectVersion(second)
	r.expectCalls("daemon-reload", "daemon-reload", "try-restart pgflurry.service")
	if r.read("/etc/pgflurry/pgflurry.toml") != settings || strings.Contains(said, "enable --now") {
		t.Errorf("the upgrade has changed the configuration, or says what only an installation should: %s", said)
	}
	proxy.Signal(syscall.SIGTERM)
	if code := proxy.End(); code != 0 {
		t.Errorf("the old proxy ends with %d", code)
	}
	r.serve(direct)

	r.run("dpkg", "--remove", "pgflurry")
	r.expectCalls("stop pgflurry.socket pgflurry.service",
		"--no-reload disable pgflurry.socket pgflurry.service", "daemon-reload")
	if r.has("/usr/bin/pgflurry") || r.read("/etc/pgflurry/pgflurry.toml") != settings || !r.hasUser() {
		t.Error("a removal leaves the program, or takes the configuration or the user")
	}
	r.run("dpkg", "--purge", "pgflurry")
	r.expectFiles(false)
	if r.has("/etc/pgflurry") || r.hasUser() || strings.Contains(r.run("dpkg", "--list"), "pgflurry") {
		t.Error("a purge leaves the secret, the user or the package's name")
	}
}

func TestTheRPMInstallsStartsUpgradesAndKeepsWhatIsTheUsers(t *testing.T) {
	one, two := rpm(t, first, "one"), rpm(t, second, "two")
	r, direct := bareDebian(t), server.Migrated(t)
	// Debian's rpm has no record of packages that give /usr/sbin/useradd.
	in := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("rpm", append([]string{"--root", r.path}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("rpm %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	in("--initdb")
	said := in("--install", "--nodeps", one)
	r.expectFiles(true)
	r.expectVersion(first)
	r.expectCalls("daemon-reload")
	if !r.hasUser() || r.read("/usr/share/licenses/pgflurry/LICENSE") != licence ||
		!strings.Contains(said, "systemctl enable --now") {
		t.Errorf("user: %v; it says %s", r.hasUser(), said)
	}
	settings := r.configure(direct)
	in("--upgrade", "--nodeps", two)
	r.expectVersion(second)
	r.expectCalls("daemon-reload", "try-restart pgflurry.service", "daemon-reload")
	if r.read("/etc/pgflurry/pgflurry.toml") != settings {
		t.Error("the upgrade has changed the configuration")
	}
	r.serve(direct)
	in("--erase", "pgflurry")
	r.expectCalls("stop pgflurry.socket pgflurry.service",
		"--no-reload disable pgflurry.socket pgflurry.service", "daemon-reload")
	if r.has("/usr/bin/pgflurry") || !r.has("/etc/pgflurry/lease-database") || !r.hasUser() {
		t.Error("it leaves the program, or takes the secret or the user")
	}
}

func TestThePackagesSayWhatTheyAreAndNeedNoLibrary(t *testing.T) {
	asked(t)
	for _, c := range []struct{ command, want string }{
		{"dpkg-deb --field " + deb(t, first, "one") + " Maintainer", maintainer},
		{"dpkg-deb --field " + deb(t, first, "one") + " Depends", "passwd"},
		{"dpkg-deb --field " + deb(t, first, "one") + " Homepage", "https://" + module},
		{"rpm --query --package --configfiles " + rpm(t, first, "one"), "/etc/pgflurry/pgflurry.toml"},
		{"rpm --query --package --qf %{URL} " + rpm(t, first, "one"), "https://" + module},
		{"rpm --query --package --qf %{LICENSE} " + rpm(t, first, "one"), "see the file LICENSE"},
	} {
		words := strings.Fields(c.command)
		out, err := exec.Command(words[0], words[1:]...).Output()
		if err != nil || strings.TrimSpace(string(out)) != c.want {
			t.Errorf("%s: %v: %s, expected %s", c.command, err, out, c.want)
		}
	}
}

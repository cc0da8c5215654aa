//go:build full && linux

package release

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// A root is a Debian without anything else in a folder, as a user has it before pgflurry.
type root struct {
	t    *testing.T
	path string
}

var (
	makeDebian sync.Once
	debianErr  error
)

// bareDebian returns a new one. A stand-in for systemctl notes its calls, because no systemd runs in a folder.
func bareDebian(t *testing.T) root {
	t.Helper()
	asked(t)
	if os.Getuid() != 0 {
		t.Skip("only root can make a Debian and install packages in it")
	}
	tree(t) // which makes the folder of all
	archive := filepath.Join(work, "debian.tar")
	makeDebian.Do(func() {
		debianErr = said(exec.Command("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", archive))
	})
	if debianErr != nil {
		t.Fatal(debianErr)
	}
	r := root{t, filepath.Join(t.TempDir(), "root")}
	if err := errors.Join(os.Mkdir(r.path, 0o755),
		said(exec.Command("tar", "--extract", "--file", archive, "--directory", r.path))); err != nil {
		t.Fatal(err)
	}
	r.write("/usr/bin/systemctl", "#!/bin/sh\necho \"$*\" >>/systemctl.calls\n", 0o755)
	if err := os.MkdirAll(r.at("/run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r root) at(path string) string { return filepath.Join(r.path, path) }

// command is a command in there.
func (r root) command(user string, args ...string) *exec.Cmd {
	cmd := exec.Command("chroot", append([]string{"--userspec=" + user, r.path}, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	return cmd
}

// run runs a command as root, and returns what it printed.
func (r root) run(args ...string) string {
	r.t.Helper()
	out, err := r.command("root:root", args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r root) write(path, content string, mode fs.FileMode) {
	r.t.Helper()
	if err := os.WriteFile(r.at(path), []byte(content), mode); err != nil {
		r.t.Fatal(err)
	}
}

func (r root) read(path string) string {
	r.t.Helper()
	content, err := os.ReadFile(r.at(path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(content)
}

func (r root) has(path string) bool {
	_, err := os.Lstat(r.at(path))
	return err == nil
}

// calls are those of systemctl since the last time.
func (r root) calls() []string {
	content, _ := os.ReadFile(r.at("/systemctl.calls"))
	os.Remove(r.at("/systemctl.calls"))
	return strings.FieldsFunc(string(content), func(c rune) bool { return c == '\n' })
}

// serve starts the proxy as the installed unit does, as the package's user.
func (r root) serve(direct string) *program.Proxy {
	r.t.Helper()
	command := ""
	for line := range strings.Lines(r.read("/usr/lib/systemd/system/pgflurry.service")) {
		if found, is := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); is {
			command = found
		}
	}
	// LoadCredential copies the secret for the service.
	r.write("/credential", r.read("/etc/pgflurry/lease-database"), 0o600)
	r.run("chown", "pgflurry", "/credential")
	cmd := r.command("pgflurry:pgflurry", strings.Fields(command)...)
	cmd.Env = append(cmd.Env, "PGFLURRY_LEASE_DATABASE_FILE=/credential")
	proxy := program.StartCommand(r.t, cmd).Proxy(direct)
	proxy.Leased()
	if n := server.Value[int64](r.t, server.Connect(r.t, proxy.URL), "SELECT next_snowflake()"); n <= 0 {
		r.t.Errorf("the ID is %d", n)
	}
	return proxy
}

// configure writes what the package asks for, and returns the configuration.
func (r root) configure(direct string) string {
	r.t.Helper()
	settings := "upstream = \"" + server.Parse(r.t, direct).Host + "\"\nlisten = \"127.0.0.1:0\"\nnode = \"packaged\"\n"
	r.write("/etc/pgflurry/pgflurry.toml", settings, 0o644)
	r.write("/etc/pgflurry/lease-database", direct+"\n", 0o600)
	return settings
}

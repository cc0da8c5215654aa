//go:build full

package product

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// nobody is a user without rights, home or shell.
const nobody = 65534

func TestDemoRunsAsAUserWhoIsNotRoot(t *testing.T) {
	binaries(t)
	dir := server.PublicDir(t)
	binary := filepath.Join(dir, "pgflurry")
	content, err := os.ReadFile(program.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "demo", "--listen", "127.0.0.1:0")
	cmd.Dir = home // the demo makes its data folder here
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 { // only root can become another user
		if err := os.Chown(home, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	d := (&demo{Process: program.StartCommand(t, cmd), folder: filepath.Join(home, "pgflurry-data")}).ready()
	d.psql(t)
	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0", code)
	}
	d.leavesNothing(t)
}

// The user that the server runs as may have no access to root's folder.
func TestDemoAsRootInAClosedFolderFindsAnotherPlaceOrSaysWhy(t *testing.T) {
	binaries(t)
	if os.Getuid() != 0 {
		return // only root's demo runs its server as another user
	}
	closed := filepath.Join(server.PublicDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	d := launch(t, filepath.Join(closed, "data"))
	if code := d.End(); code != 1 {
		t.Errorf("the demo ends with %d, expected 1", code)
	}
	d.Line("folder " + closed + " has mode 0700")
	d.Line("hint: Choose a folder that everybody can pass through")

	const elsewhere = "/var/lib/pgflurry-data"
	if _, err := os.Stat(elsewhere); errors.Is(err, os.ErrNotExist) {
		t.Cleanup(func() { os.RemoveAll(elsewhere) })
	}
	cmd := exec.Command(program.Path(t), "demo", "--listen", "127.0.0.1:0")
	cmd.Dir = closed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	d = (&demo{Process: program.StartCommand(t, cmd), folder: elsewhere}).ready()
	d.Line("data folder " + elsewhere)
	d.psql(t)
	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0", code)
	}
	d.leavesNothing(t)
}

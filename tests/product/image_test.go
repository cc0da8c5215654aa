package product

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/server"
)

// composition is docker/compose.yaml, under a project name of its own.
type composition struct {
	command []string // docker compose or docker-compose
	file    string
}

// compose finds the command. The images of the file must be here or available from a registry. Without a registry,
// .ci/stand-in/make makes them.
func compose(t *testing.T) composition {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_DOCKER") != "1" {
		t.Skip("tests with Docker are not asked for: PGFLURRY_TEST_DOCKER is not 1")
	}
	file, err := filepath.Abs("../../docker/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.Command(command[0], append(command[1:], "version")...).Run() == nil {
			return composition{command: append(command, "--project-name", "pgflurry-test", "--file", file), file: file}
		}
	}
	t.Fatal("PGFLURRY_TEST_DOCKER=1, but there is neither docker compose nor docker-compose; install one of them")
	return composition{}
}

func (c composition) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(c.command[0], append(c.command[1:], args...)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String())
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestComposeRunsTwoHealthyProxiesOfOneIDSpace(t *testing.T) {
	c := compose(t)
	t.Cleanup(func() { c.run(t, "down", "--volumes") })
	c.run(t, "up", "--detach", "--build")
	const url = "postgres://postgres:flurry@127.0.0.1:%PORT/postgres?sslmode=disable"
	var ids []int64
	for service, port := range map[string]string{"proxy-1": "7432", "proxy-2": "7433"} {
		c.healthy(t, service)
		conn := server.Connect(t, strings.ReplaceAll(url, "%PORT", port))
		ids = append(ids, draw(t, conn)...)
		var node string
		const holder = "SELECT node FROM pgflurry.worker WHERE worker = snowflake_worker($1)"
		if err := conn.QueryRow(t.Context(), holder, ids[len(ids)-1]).Scan(&node); err != nil || node != service {
			t.Errorf("the last ID of %s is of a worker that %q holds: %v", service, node, err)
		}
	}
	unique(t, ids)
	// A proxy that stops in good order releases its worker at once.
	c.run(t, "stop", "proxy-2")
	if held := workersHeld(t, strings.ReplaceAll(url, "%PORT", "7432")); held != 1 {
		t.Errorf("%d workers are held after one of two proxies stopped, expected 1", held)
	}
	if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", c.container(t, "proxy-2")); code != "0" {
		t.Errorf("the stopped proxy ended with %s, expected 0", code)
	}
}

// container returns the name of a service's container.
func (c composition) container(t *testing.T, service string) string {
	t.Helper()
	return c.run(t, "ps", "--quiet", service)
}

// healthy waits until the image's own health check succeeds.
func (c composition) healthy(t *testing.T, service string) {
	t.Helper()
	ctx := soon(t)
	for look := time.NewTicker(200 * time.Millisecond); ; {
		status := docker(t, "inspect", "--format", "{{.State.Health.Status}}", c.container(t, service))
		if status == "healthy" {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("%s is %s:\n%s", service, status, c.run(t, "logs", service))
		}
	}
}

func TestImageHoldsNoShellKnowsItsCommitAndDoesNotRunAsRoot(t *testing.T) {
	c := compose(t)
	t.Setenv("REVISION", "1a2b3c4d5e6f708192a3b4c5d6e7f80912345678")
	c.run(t, "build", "proxy-1")
	if user := docker(t, "inspect", "--format", "{{.Config.User}}", "pgflurry"); user != "65532:65532" {
		t.Errorf("the image runs as user %q, expected 65532:65532", user)
	}
	out, err := exec.Command("docker", "run", "--rm", "--entrypoint", "/bin/sh", "pgflurry", "-c", "true").
		CombinedOutput()
	if err == nil {
		t.Errorf("the image has a shell: %s", out)
	}
	const built = "pgflurry version devel-1a2b3c4d5e6f (commit 1a2b3c4d5e6f; go"
	if version := docker(t, "run", "--rm", "pgflurry", "--version"); !strings.HasPrefix(version, built) {
		t.Errorf("the image's program says %q, expected %s", version, built)
	}
	out, err = exec.Command("docker", "run", "--rm", "pgflurry", "health", "--timeout", "1s").CombinedOutput()
	if err == nil {
		t.Errorf("health without a proxy succeeds: %s", out)
	}
}

func TestDemoRunsOnADockerImage(t *testing.T) {
	compose(t)
	image := os.Getenv("PGFLURRY_TEST_IMAGE")
	if image == "" {
		image = "postgres:17"
	}
	d := launch(t, filepath.Join(server.PublicDir(t), "data"), "--docker-image", image).ready()
	ids := append(d.printed(t), d.psql(t))
	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0:\n%s", code, d.Output())
	}
	again := launch(t, d.folder, "--docker-image", image).ready()
	ids = append(ids, append(again.printed(t), again.psql(t))...)
	unique(t, ids)
	again.interrupt(t)
	again.End()
	left := docker(t, "ps", "--all", "--quiet", "--filter", "volume="+filepath.Join(d.folder, "docker"))
	if left != "" {
		t.Errorf("the demo has left container %s", left)
	}
}

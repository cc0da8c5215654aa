package product

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// composition is docker/compose.yaml, under a project name of its own.
type composition struct {
	command []string // docker compose or docker-compose
	file    string
}

// documented returns the commands of the file's first lines, with the Compose that is here.
func (c composition) documented(t *testing.T) (up, draw string) {
	t.Helper()
	lines := commands(t, c.file)
	if len(lines) != 2 {
		t.Fatalf("%s shows %q, expected a command of Compose and one of psql", c.file, lines)
	}
	return strings.Replace(lines[0], "docker compose", strings.Join(c.command, " "), 1), lines[1]
}

// compose finds the command. The images of the file must be here or available from a registry. Stage images of .ci/run
// makes stand-ins for them.
func compose(t *testing.T) composition {
	t.Helper()
	needsDocker(t)
	file, err := filepath.Abs(root + "/docker/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.Command(command[0], append(command[1:], "version")...).Run() == nil {
			t.Setenv("COMPOSE_PROJECT_NAME", "pgflurry-test")
			return composition{command: command, file: file}
		}
	}
	t.Fatal("PGFLURRY_TEST_DOCKER=1, but there is neither docker compose nor docker-compose; install one of them")
	return composition{}
}

func (c composition) run(t *testing.T, args ...string) string {
	t.Helper()
	args = append(append(c.command[1:], "--file", c.file), args...)
	return printed(t, exec.Command(c.command[0], args...))
}

func TestComposeRunsTwoHealthyProxiesOfOneIDSpace(t *testing.T) {
	c := compose(t)
	t.Cleanup(func() { c.run(t, "down", "--volumes") })
	up, drawing := c.documented(t)
	shell(t, up+" --detach")
	const url = "postgres://postgres:flurry@127.0.0.1:%PORT/postgres?sslmode=disable"
	var ids []int64
	for service, port := range map[string]string{"proxy-1": "7432", "proxy-2": "7433"} {
		healthy(t, c.container(t, service))
		conn := server.Connect(t, strings.ReplaceAll(url, "%PORT", port))
		ids = append(ids, draw(t, conn)...)
		var node string
		const holder = "SELECT node FROM pgflurry.worker WHERE worker = snowflake_worker($1)"
		if err := conn.QueryRow(t.Context(), holder, ids[len(ids)-1]).Scan(&node); err != nil || node != service {
			t.Errorf("the last ID of %s is of a worker that %q holds: %v", service, node, err)
		}
	}
	shown, err := strconv.ParseInt(shell(t, drawing+" -XAt"), 10, 64)
	if err != nil {
		t.Errorf("%s: %v", drawing, err)
	}
	unique(t, append(ids, shown))
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

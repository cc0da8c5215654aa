package product

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// root is the folder in which the documented commands run.
const root = "../.."

func needsDocker(t *testing.T) {
	t.Helper()
	if os.Getenv("PGFLURRY_TEST_DOCKER") != "1" {
		t.Skip("tests with Docker are not asked for: PGFLURRY_TEST_DOCKER is not 1")
	}
}

// printed runs a command and returns what it prints.
func printed(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String())
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	return printed(t, exec.Command("docker", args...))
}

// shell runs a documented command as a person does who has cloned the repository.
func shell(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = root
	return printed(t, cmd)
}

// commands returns the commands in the first comment of a file: its indented lines. A comment after one is cut off.
func commands(t *testing.T, path string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "\n\n")
	head = strings.ReplaceAll(head, "\\\n#", "")
	for _, match := range regexp.MustCompile(`(?m)^# {3,}(.*)$`).FindAllStringSubmatch(head, -1) {
		line, _, _ := strings.Cut(match[1], "   #")
		found = append(found, strings.TrimSpace(line))
	}
	return found
}

// build builds the image pgflurry by the command that the Dockerfile shows, and returns its commit. Flags are put in
// front of those of the command.
func build(t *testing.T, flags ...string) (commit string) {
	t.Helper()
	needsDocker(t)
	line := commands(t, root+"/docker/Dockerfile")[0]
	shell(t, strings.Replace(line, "docker build", strings.Join(append([]string{"docker build"}, flags...), " "), 1))
	return shell(t, "git rev-parse HEAD")
}

// start starts a container that the test's end removes. It gives the health check of the image a shorter interval.
func start(t *testing.T, args ...string) (id string) {
	t.Helper()
	id = docker(t, append([]string{"run", "--detach", "--health-interval", "200ms"}, args...)...)
	t.Cleanup(func() { docker(t, "rm", "--force", "--volumes", id) })
	return id
}

// healthy waits until the health check of a container succeeds.
func healthy(t *testing.T, id string) {
	t.Helper()
	ctx := soon(t)
	for look := time.NewTicker(200 * time.Millisecond); ; {
		status := docker(t, "inspect", "--format", "{{.State.Health.Status}}", id)
		if status == "healthy" {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			log, err := exec.Command("docker", "logs", id).CombinedOutput()
			t.Fatalf("container %s is %s: %v\n%s", id, status, err, log)
		}
	}
}

func TestImageHoldsNoShellKnowsItsCommitAndDoesNotRunAsRoot(t *testing.T) {
	commit := build(t)
	const format = `{{.Config.User}} {{index .Config.Labels "org.opencontainers.image.revision"}}`
	if says := docker(t, "inspect", "--format", format, "pgflurry"); says != "65532:65532 "+commit {
		t.Errorf("the image has user and commit %q, expected 65532:65532 and %s", says, commit)
	}
	built := "pgflurry version devel-" + commit[:12] + " (commit " + commit[:12] + "; go"
	if version := docker(t, "run", "--rm", "pgflurry", "--version"); !strings.HasPrefix(version, built) {
		t.Errorf("the image's program says %q, expected %s", version, built)
	}
	expected := []string{"pgflurry"}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			expected = append(expected, name)
		}
	}
	slices.Sort(expected)
	if files := content(t, "pgflurry"); !slices.Equal(files, expected) {
		t.Errorf("the image holds %q, expected %q", files, expected)
	}
	out, err := exec.Command("docker", "run", "--rm", "pgflurry", "health", "--timeout", "1s").CombinedOutput()
	if err == nil {
		t.Errorf("health without a proxy succeeds: %s", out)
	}
}

// content lists the files of an image, without those that Docker mounts into each container.
func content(t *testing.T, image string, args ...string) (files []string) {
	t.Helper()
	id := docker(t, append(append([]string{"create"}, args...), image)...)
	defer docker(t, "rm", id)
	for name := range strings.Lines(shell(t, "docker export "+id+" | tar -t")) {
		name = strings.TrimSpace(name)
		if !regexp.MustCompile(`/$|^\.dockerenv$|^(dev|etc)/`).MatchString(name) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

func TestImageIsHealthyAndReachedWhereverItListens(t *testing.T) {
	build(t)
	file := filepath.Join(server.PublicDir(t), "pgflurry.toml")
	if err := os.WriteFile(file, []byte("listen = \":7001\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A proxy is healthy before it has reached any of the two.
	common := []string{
		"--env", "PGFLURRY_UPSTREAM=127.0.0.1:1", "--env", "PGFLURRY_LEASE_DATABASE=postgres://u@127.0.0.1:1/d",
		"--publish", "127.0.0.1::6432", "--publish", "127.0.0.1::7001",
	}
	for name, given := range map[string]struct {
		port string
		args []string
	}{
		"by default":            {"6432", []string{"pgflurry"}},
		"where a flag says":     {"7001", []string{"pgflurry", "serve", "--listen", ":7001"}},
		"where a variable says": {"7001", []string{"--env", "PGFLURRY_LISTEN=:7001", "pgflurry"}},
		"where a mounted file says": {"7001", []string{
			"--volume", file + ":/pgflurry.toml:ro", "pgflurry", "serve", "--config", "/pgflurry.toml",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			id := start(t, append(slices.Clone(common), given.args...)...)
			healthy(t, id)
			_, port, err := net.SplitHostPort(docker(t, "port", id, given.port))
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(program.Path(t), "health", "--listen", "127.0.0.1:"+port).CombinedOutput()
			if err != nil {
				t.Errorf("from outside: %v\n%s", err, out)
			}
		})
	}
}

func TestImageSaysWhoMustReadASecretThatIsForAnotherUser(t *testing.T) {
	build(t)
	secret := filepath.Join(server.PublicDir(t), "lease-database")
	if err := os.WriteFile(secret, []byte("postgres://u@127.0.0.1:1/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("docker", "run", "--rm", "--volume", secret+":/run/secrets/lease-database:ro",
		"--env", "PGFLURRY_DATABASE_FILE=/run/secrets/lease-database", "pgflurry", "migrate", "up").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Let user 65532 read it") {
		t.Errorf("with a secret of mode 600: %v, expected that user 65532 must read it:\n%s", err, out)
	}
}

func TestDemoRunsInTheImage(t *testing.T) {
	build(t)
	page, err := os.ReadFile(root + "/docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^docker run .* demo --postgres `).FindString(string(page))
	if line == "" {
		t.Fatal("docs/operations.md shows no demo in a container")
	}
	d := &demo{Process: program.StartCommand(t, exec.Command("sh", "-c", "exec "+line+"'"+server.Database(t)+"'"))}
	ids := append(d.ready().printed(t), d.psql(t))
	unique(t, ids)
	d.Signal(syscall.SIGINT)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends it with %d, expected 0:\n%s", code, d.Output())
	}
}

func TestDemoRunsOnADockerImage(t *testing.T) {
	needsDocker(t)
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

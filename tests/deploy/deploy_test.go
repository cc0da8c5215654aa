//go:build full && unix

package deploy

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) {
	os.Exit(server.Watched(m.Run))
}

const (
	root = "../../"
	// installed is the path at which the units expect the program.
	installed = "/usr/local/bin/pgflurry"
	// exposure is the greatest exposure that systemd-analyze may report, in tenths. systemd 252 reports 11, for the
	// network and the sockets. Newer versions look at more.
	exposure = "15"
)

// analyze runs systemd-analyze, which starts no unit, and returns its output.
func analyze(t *testing.T, args ...string) (string, error) {
	t.Helper()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("PGFLURRY_TEST_SYSTEMD") == "1" {
			t.Fatal(err)
		}
		t.Skip("systemd is not installed, and PGFLURRY_TEST_SYSTEMD is not 1")
	}
	out, err := exec.Command(tool, args...).CombinedOutput()
	return string(out), err
}

// units copies the units and puts the path of the built program into them.
func units(t *testing.T) (service, socket string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pgflurry.service", "pgflurry.socket"} {
		text := strings.ReplaceAll(read(t, root+"deploy/systemd/"+name), installed, program.Path(t))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "pgflurry.service"), filepath.Join(dir, "pgflurry.socket")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	service, socket := units(t)
	if out, err := analyze(t, "verify", "--man=no", service, socket); err != nil || out != "" {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestTheServiceMayDoLittle(t *testing.T) {
	service, _ := units(t)
	out, err := analyze(t, "security", "--offline=true", "--no-pager", "--threshold="+exposure, service)
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

func TestTheConfigurationsOfServicesAreGood(t *testing.T) {
	for file, url := range map[string]string{
		"systemd/pgflurry.toml": "postgres://pgflurry@127.0.0.1/app",
		"ha/pgflurry.toml":      leaseURLOfHA(t),
	} {
		path := filepath.Join(t.TempDir(), "lease-database")
		if err := os.WriteFile(path, []byte(url+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program.Path(t), "serve", "--config", root+"deploy/"+file, "--check-config")
		cmd.Env = append(os.Environ(), "PGFLURRY_LEASE_DATABASE_FILE="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}

// leaseURLOfHA returns the connection string that deploy/ha/pgflurry.toml shows for lease-database-file.
func leaseURLOfHA(t *testing.T) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^#\s+(host=.*)$`).FindStringSubmatch(read(t, root+"deploy/ha/pgflurry.toml"))
	if line == nil {
		t.Fatal("deploy/ha/pgflurry.toml does not say what its lease-database-file holds")
	}
	return line[1]
}

func TestComposeAcceptsItsFile(t *testing.T) {
	var out []byte
	var err error
	for _, command := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.Command(command[0], append(command[1:], "version")...).Run() != nil {
			continue
		}
		command = append(command, "--file", root+"docker/compose.yaml", "--profile", "metrics", "config", "--quiet")
		if out, err = exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		return
	}
	if os.Getenv("PGFLURRY_TEST_DOCKER") == "1" {
		t.Fatal("there is neither docker compose nor docker-compose")
	}
	t.Skip("compose is not installed, and PGFLURRY_TEST_DOCKER is not 1")
}

func TestComposeBuildsTheImageOnceAndLeavesThePortsOfTheDemoFree(t *testing.T) {
	text := read(t, root+"docker/compose.yaml")
	if builds := strings.Count(text, " build:"); builds != 1 {
		t.Errorf("%d services build the same tag, which races; expected 1", builds)
	}
	ports := regexp.MustCompile(`127\.0\.0\.1:(\d+):`).FindAllStringSubmatch(text, -1)
	if len(ports) != 3 {
		t.Errorf("it publishes %q", ports)
	}
	for _, port := range ports {
		if slices.Contains([]string{"6432", "6532", "6533"}, port[1]) {
			t.Errorf("port %s is that of the demo or of a proxy on this machine", port[1])
		}
	}
}

func TestTheImageNeitherHidesAConfigurationFileNorAsksAnotherAddress(t *testing.T) {
	text := read(t, root+"docker/Dockerfile")
	if strings.Contains(text, "\nENV PGFLURRY_") || !strings.Contains(text, `CMD ["/pgflurry", "health", "--find"]`) {
		t.Error("a variable of the image wins over a mounted file, or the health check guesses")
	}
	built := filepath.Join(t.TempDir(), "pgflurry")
	build := exec.Command("go", "build", "-tags", "image", "-o", built, root+"cmd/pgflurry")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := filepath.Join(t.TempDir(), "pgflurry.toml")
	for line, says := range map[string]string{
		"":                 `(?m)^listen +:6432 +default$`,
		`listen = ":7000"`: `(?m)^listen +:7000 +key listen `,
	} {
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(built, "serve", "--check-config", "--config", path, "--upstream", "db:5432",
			"--lease-database", "postgres://u@db/d").CombinedOutput()
		if err != nil || !regexp.MustCompile(says).Match(out) {
			t.Errorf("with %q: %v, expected %s in\n%s", line, err, says, out)
		}
	}
}

func TestSystemdWaitsForADrainToEnd(t *testing.T) {
	seconds := func(path, pattern string) time.Duration {
		match := regexp.MustCompile(pattern).FindStringSubmatch(read(t, root+path))
		if match == nil {
			t.Fatalf("%s has nothing like %s", path, pattern)
		}
		d, err := time.ParseDuration(match[1])
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	drain := seconds("deploy/systemd/pgflurry.toml", `(?m)^drain-timeout = "(.+)"$`)
	stop := seconds("deploy/systemd/pgflurry.service", `(?m)^TimeoutStopSec=(.+)$`)
	if stop != drain+5*time.Second {
		t.Errorf("systemd waits %v for the end; expected the drain timeout of %v and 5s", stop, drain)
	}
}

func TestPrometheusAcceptsItsConfiguration(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("PGFLURRY_TEST_PROMETHEUS") != "" {
			t.Fatal(err)
		}
		t.Skip("promtool is not installed, and PGFLURRY_TEST_PROMETHEUS is not set")
	}
	alerts, err := filepath.Abs(root + "deploy/prometheus/alerts.yaml") // the path in the container
	if err != nil {
		t.Fatal(err)
	}
	config := strings.ReplaceAll(read(t, root+"docker/prometheus.yaml"), "/etc/prometheus/alerts.yaml", alerts)
	path := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "check", "config", path).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "1 rule files found") {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
}

// named returns everything in the files that matches a pattern, each with a file that has it.
func named(t *testing.T, pattern string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	add := func(path string) {
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, path), -1) {
			found[match[1]] = path
		}
	}
	add(root + "docker/compose.yaml")
	err := filepath.WalkDir(root+"deploy", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			add(path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%q finds %v: %v", pattern, found, err)
	}
	return found
}

func TestEveryVariableInTheFilesIsOfAFlag(t *testing.T) {
	help := helps(t)
	for name, path := range named(t, `\b(PGFLURRY_[A-Z_]+)\b`) {
		flag := strings.TrimPrefix(name, "PGFLURRY_")
		if secret, is := strings.CutSuffix(flag, "_FILE"); is {
			flag = secret
		}
		flag = "--" + strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
		if !regexp.MustCompile(regexp.QuoteMeta(flag) + `\b`).MatchString(help) {
			t.Errorf("%s has the variable %s, but no command has a flag %s", path, name, flag)
		}
	}
}

func TestEveryFlagThatTheFilesGiveTheProgramIsThere(t *testing.T) {
	help := helps(t)
	lines := named(t, `(?m)((?:pgflurry (?:serve|health|migrate)|workers [a-z]+|`+
		`args:|command: \[|test: \[CMD, /pgflurry)[^\n]*)`)
	flags := 0
	for line, path := range lines {
		for _, match := range regexp.MustCompile(`(--[a-z][a-z-]+)`).FindAllString(line, -1) {
			flags++
			if !strings.Contains(help, match+" ") {
				t.Errorf("%s has the flag %s, which no command has: %s", path, match, line)
			}
		}
	}
	if flags == 0 {
		t.Error("no flag was found")
	}
}

// helps returns the help of all commands that the files use.
func helps(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, command := range []string{"serve", "health", "migrate up", "workers retire", "workers reseed"} {
		out, err := exec.Command(program.Path(t), append(strings.Fields(command), "--help")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		all.Write(out)
	}
	return all.String()
}

func TestEveryPathThatTheFilesAskForIsAnswered(t *testing.T) {
	p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1",
		"--lease-database", "postgres://u@127.0.0.1:1/d", "--admin-listen", "127.0.0.1:0")
	address := program.Field(p.Line("listening for operators"), "address")
	for path, file := range named(t, `(?m)^\s+path: (/\S+)$`) {
		answer, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusNotFound {
			t.Errorf("%s asks for %s, which there is not", file, path)
		}
	}
}

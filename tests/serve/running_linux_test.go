package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// run runs a command of the product to its end.
func run(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	p := program.Start(t, args...)
	code = p.End()
	return code, p.Output()
}

func TestReloadReachesARunningProxyAndNothingElse(t *testing.T) {
	t.Parallel()
	c := serveConfigured(t, server.Migrated(t), "container")
	c.write("max-logins = 100")
	if code, said := run(t, "reload", "--pid", fmt.Sprint(c.PID())); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	c.Line("configuration reloaded", "changed=max-logins")

	other := program.StartCommand(t, exec.Command("sleep", "1000"))
	code, said := run(t, "reload", "--pid", fmt.Sprint(other.PID()))
	if code != 1 || !strings.Contains(said, `is sleep; expected "pgflurry serve"`) {
		t.Errorf("of another program: exit code %d, %s", code, said)
	}
	if err := syscall.Kill(other.PID(), 0); err != nil {
		t.Errorf("the other program has ended: %v", err)
	}
	code, said = run(t, "reload", "--pid", "1000000000")
	if code != 1 || !strings.Contains(said, "there is no process") {
		t.Errorf("of nobody: exit code %d, %s", code, said)
	}
}

// taken returns an address at which somebody listens already.
func taken(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

func TestEachLineOfALogInJSONIsJSONTheLastOneToo(t *testing.T) {
	t.Parallel()
	url := "postgres://u:s3cret@127.0.0.1:1/d"
	for says, c := range map[string]struct {
		code  int
		flags []string
	}{
		"address already in use": {1, []string{"--listen", taken(t)}},
		"--max-logins is -1":     {2, []string{"--max-logins", "-1"}},
	} {
		code, said := run(t, append([]string{
			"serve", "--log-format", "json", "--upstream", "127.0.0.1:1",
			"--lease-database", url,
		}, c.flags...)...)
		var last map[string]any
		for line := range strings.Lines(said) {
			last = nil
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Errorf("%v: %s", err, line)
			}
		}
		if code != c.code || last["level"] != "ERROR" || !strings.Contains(fmt.Sprint(last["cause"]), says) ||
			strings.Contains(said, "s3cret") {
			t.Errorf("exit code %d, expected %d and %q; the log:\n%s", code, c.code, says, said)
		}
	}
}

func TestTheFirstLineSaysWhichProgramRunsWithWhichFile(t *testing.T) {
	t.Parallel()
	c := serveConfigured(t, server.Migrated(t), "first")
	first, _, _ := strings.Cut(c.Output(), "\n")
	if !strings.Contains(first, " version=") || !strings.Contains(first, " commit=") ||
		program.Field(first, "config") != c.path {
		t.Errorf("the first line is %s", first)
	}
}

func TestTheJournalOfSystemdGetsThePriorityOfEachLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	var is syscall.Stat_t
	if err := syscall.Fstat(int(journal.Fd()), &is); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program.Path(t), "serve", "--upstream", "127.0.0.1:1", "--listen", taken(t),
		"--lease-database", "postgres://u@127.0.0.1:1/d")
	cmd.Env = append(os.Environ(), fmt.Sprintf("JOURNAL_STREAM=%d:%d", is.Dev, is.Ino))
	cmd.Stderr = journal
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	info, fatal := regexp.MustCompile(`^<6>time=\S+ level=INFO `), regexp.MustCompile(`^<3>time=\S+ level=ERROR `)
	if !info.Match(lines[0]) || !fatal.Match(lines[len(lines)-1]) {
		t.Errorf("the journal gets\n%s", text)
	}
}

// contained runs "pgflurry serve" in a PID namespace of its own, as the child of an init process. It returns a command
// that runs the product beside it, as "docker exec" does.
func contained(t *testing.T, environ []string, flags ...string) (
	p *program.Process, beside func(args ...string) (code int, said string),
) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a PID namespace needs root")
	}
	args := append([]string{
		"--pid", "--mount-proc", "--fork", "--kill-child", "sh", "-c", `"$@"; exit $?`, "init",
		program.Path(t), "serve",
	}, flags...)
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), environ...)
	p = program.StartCommand(t, cmd)
	p.Line("msg=listening")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID(), p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	init := strings.TrimSpace(string(children))
	return p, func(args ...string) (int, string) {
		args = append([]string{"--target", init, "--pid", "--mount", program.Path(t)}, args...)
		entered := program.StartCommand(t, exec.Command("nsenter", args...))
		code := entered.End()
		return code, entered.Output()
	}
}

func TestCommandsInAContainerFindTheProxyWhereverItsAddressesWereGiven(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	path := filepath.Join(t.TempDir(), "pgflurry.toml")
	write := func(more string) {
		content := fmt.Sprintf("listen = \"127.0.0.1:%d\"\nupstream = %q\nlease-database = %q\n%s\n",
			server.FreePort(t), server.Parse(t, direct).Host, direct, more)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	p, beside := contained(t, []string{fmt.Sprint("PGFLURRY_ADMIN_LISTEN=127.0.0.1:", server.FreePort(t))},
		"--config", path)
	p.Line("are answered from memory")
	for _, args := range [][]string{{"health", "--find"}, {"health", "--find", "--ready"}} {
		if code, said := beside(args...); code != 0 {
			t.Errorf("%s: exit code %d, %s", args, code, said)
		}
	}
	write("max-logins = 100")
	if code, said := beside("reload"); code != 0 {
		t.Errorf("reload: exit code %d, %s", code, said)
	}
	p.Line("configuration reloaded", "changed=max-logins")

	_, beside = contained(t, nil, "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:1",
		"--lease-database", "postgres://u@127.0.0.1:1/d")
	code, said := beside("health", "--find", "--ready")
	if code != 1 || !strings.Contains(said, "has no --admin-listen") {
		t.Errorf("without an admin listener: exit code %d, %s", code, said)
	}
}

func TestASecretThatTheProxyMayNotReadSaysWhoHasToReadIt(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("another account needs root")
	}
	dir := t.TempDir()
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary, secret := filepath.Join(dir, "pgflurry"), filepath.Join(dir, "secret")
	// By cp: a program that this process writes cannot run while another test's child still has its file.
	if out, err := exec.Command("cp", program.Path(t), binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(secret, []byte("postgres://u@h/d"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", "--upstream", "127.0.0.1:1")
	cmd.Env = append(os.Environ(), "PGFLURRY_LEASE_DATABASE_FILE="+secret)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	said, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), "permission denied") ||
		!strings.Contains(string(said), "Let user 65532 read it") {
		t.Errorf("%v: %s", cmd.ProcessState, said)
	}
}

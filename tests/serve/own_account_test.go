//go:build linux

package serve

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// another is an account that neither the proxy nor the server runs as.
const another = 65533

// bySocket are the arguments of a proxy in front of the server's Unix socket.
func bySocket(t *testing.T, direct, listen string, more ...string) []string {
	t.Helper()
	cluster := server.Cluster(t)
	return append([]string{
		"serve", "--listen", listen, "--lease-database", direct, "--node", "by socket",
		"--upstream", filepath.Join(cluster.SocketDir, fmt.Sprintf(".s.PGSQL.%d", cluster.Port)),
	}, more...)
}

func TestClientsByTCPCannotHaveTheProxysAccountOnASocketOfPostgreSQL(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Start(t, bySocket(t, direct, "127.0.0.1:0")...)
	if code := p.End(); code != 2 || !strings.Contains(p.Output(), "for the account that the proxy runs as") {
		t.Errorf("it ended with %d:\n%s", code, p.Output())
	}
	m := &manager{t: t}
	m.listen("clients") // by TCP as well, whatever --listen says
	handed := m.start(bySocket(t, direct, filepath.Join(t.TempDir(), "socket"))...)
	if code := handed.End(); code != 2 || !strings.Contains(handed.Output(), "for the account that the proxy runs as") {
		t.Errorf("with a socket that was handed over it ended with %d:\n%s", code, handed.Output())
	}
	trusting := program.Start(t, bySocket(t, direct, "127.0.0.1:0", "--unix-upstream-trusts-clients")...).Proxy(direct)
	server.Do(t, server.Connect(t, trusting.URL), "SELECT 1")
}

func TestASocketTakesEveryAccountAndTrustsItsOwn(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		return // only root can be somebody else for a moment
	}
	direct, dir := server.Migrated(t), server.PublicDir(t)
	server.Role(t, direct, "door_of_sockets") // its method is trust, as of all
	listen := filepath.Join(dir, ".s.PGSQL.6432")
	psql := func(account uint32, role string) string {
		cmd := exec.Command(server.Tool(t, "psql"), "-h", dir, "-p", "6432", "-U", role, "-XAtwc", "SELECT 7",
			server.Name(t, direct))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account, Gid: account}}
		cmd.Dir, cmd.Env = "/", append(os.Environ(), "PGPASSWORD=wrong", "HOME=/")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	p := program.Start(t, bySocket(t, direct, listen)...)
	p.Line("worker acquired")
	if got := psql(0, "postgres"); got != "7\n" {
		t.Errorf("the proxy's own account gets %q", got)
	}
	if got := psql(another, "postgres"); !strings.Contains(got, "asked for no proof") {
		t.Errorf("another account gets %q", got)
	}
	if got := psql(another, "door_of_sockets"); !strings.Contains(got, "asked for no proof") {
		t.Errorf("another account gets %q as a role that needs no password", got)
	}
	p.Line("session ended by the proxy", "upstream asked for no proof")
	p.Signal(syscall.SIGTERM)
	p.End()

	p = program.Start(t, bySocket(t, direct, listen, "--listen-mode", "0700")...)
	p.Line("worker acquired")
	if info, err := os.Stat(listen); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket has the mode %v (%v); expected 0700", info.Mode(), err)
	}
	if got := psql(another, "postgres"); !strings.Contains(got, "Permission denied") {
		t.Errorf("another account gets %q; expected that it cannot connect", got)
	}
}

package serve

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestUnixSocketsWorkOnBothSides(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	dir, err := os.MkdirTemp("", "pgflurry-sock-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, ".s.PGSQL.6432")
	cluster := server.Cluster(t)
	upstream := filepath.Join(cluster.SocketDir, fmt.Sprintf(".s.PGSQL.%d", cluster.Port))
	p := program.Start(t, "serve", "--listen", socket, "--upstream", upstream, "--lease-database", direct,
		"--node", "sockets")
	p.Line("worker acquired")

	out, err := exec.Command("psql", "-h", dir, "-p", "6432", "-U", "postgres", "-XAt", "-c", "SELECT next_snowflake()",
		server.Name(t, direct)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	second := program.Start(t, "serve", "--listen", socket, "--upstream", upstream, "--lease-database", direct,
		"--node", "second")
	if code := second.End(); code != 1 || !strings.Contains(second.Output(), "another process serves that socket") {
		t.Errorf("a second proxy on the socket ended with %d:\n%s", code, second.Output())
	}
	p.Signal(syscall.SIGKILL)
	p.End()
	third := program.Start(t, "serve", "--listen", socket, "--upstream", upstream, "--lease-database", direct,
		"--node", "third")
	third.Line("msg=listening") // it takes over the socket of a killed process
}

func TestServeRefusesWhatCannotWorkWithASentence(t *testing.T) {
	t.Parallel()
	good := []string{
		"serve", "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:5432", "--lease-database",
		"postgres://u@127.0.0.1/d",
	}
	cases := map[string]struct {
		args []string
		says string
	}{
		"no lease database":          {[]string{"--lease-database", ""}, "--lease-database is missing"},
		"no upstream":                {[]string{"--upstream", ""}, "--upstream is missing"},
		"an upstream without a port": {[]string{"--upstream", "db"}, `--upstream is "db"`},
		"a connection string":        {[]string{"--lease-database", "postgres://u:geheim@h:x/d"}, "--lease-database"},
		"a window below a second":    {[]string{"--window", "10ms"}, "--window is 10ms"},
		"a negative drain timeout":   {[]string{"--drain-timeout", "-1s"}, "--drain-timeout is -1s"},
		"no TLS to the upstream":     {[]string{"--upstream-tls", ""}, "--upstream-tls is empty"},
		"a node of two lines":        {[]string{"--node", "a\nb"}, `--node is "a\nb"`},
		"a node that is a secret":    {[]string{"--node", "postgres://u:geheim@h/d"}, "--node is a value that"},
		"an address of two lines":    {[]string{"--advertise", "h:1\nh:2"}, `--advertise is "h:1\nh:2"`},
		"an address with a secret":   {[]string{"--advertise", "postgres://u:geheim@h:1"}, "--advertise is a value"},
		"a mode of another number":   {[]string{"--listen-mode", "0888"}, `--listen-mode is "0888"`},
		"a mode for nobody":          {[]string{"--listen-mode", "0"}, `--listen-mode is "0"`},
		"an unknown log level":       {[]string{"--log-level", "loud"}, `--log-level is "loud"`},
		"an unknown flag":            {[]string{"--nope"}, "unknown flag"},
		"an argument":                {[]string{"extra"}, "extra"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := program.Start(t, append(append([]string{}, good...), c.args...)...)
			if code := p.End(); code != 2 {
				t.Errorf("exit code %d; expected 2", code)
			}
			if out := p.Output(); !strings.Contains(out, c.says) || strings.Contains(out, "geheim") {
				t.Errorf("it says\n%s\nexpected %q and no password", out, c.says)
			}
		})
	}
}

func TestAWindowAboveTheNamespacesMaximumEndsTheProxy(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	u := server.Parse(t, direct)
	p := program.Start(t, "serve", "--listen", "127.0.0.1:0", "--upstream", u.Host, "--lease-database", direct,
		"--window", "1h")
	if code := p.End(); code != 2 || !strings.Contains(p.Output(), "max_window is 1m0s") {
		t.Errorf("it ended with %d:\n%s", code, p.Output())
	}
}

func TestAProxyInFrontOfItselfIsRefused(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	port := ":" + strconv.Itoa(server.FreePort(t))
	upstream := "127.0.0.1" + port
	for _, listen := range []string{upstream, port} {
		p := program.Start(t, "serve", "--listen", listen, "--upstream", upstream, "--lease-database", direct)
		if code := p.End(); code != 2 || !strings.Contains(p.Output(), "own --listen") {
			t.Errorf("--listen %s --upstream %s ended with %d:\n%s", listen, upstream, code, p.Output())
		}
	}
}

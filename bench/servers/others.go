package servers

import (
	"context"
	_ "embed" // the program in C
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pgflurry/bench/driver"
)

// Servers of other makers. One that is not installed says so in Missing.

// start starts a program of the benchmark's own, which listens on address.
func (p *Private) start(ctx context.Context, name, address, program string, args ...string) (Server, error) {
	c, err := startChild(ctx, name, address, exec.Command(program, args...))
	if err != nil {
		return Server{}, err
	}
	p.children = append(p.children, c)
	return Server{URL: at(p.Postgres.URL, address), PID: c.pid()}, nil
}

// startPooler starts PgBouncer with its defaults, except for a larger pool of sessions and what it must know.
func (p *Private) startPooler(ctx context.Context) error {
	program, found := installed("pgbouncer")
	if !found {
		p.Pooler.Missing = "pgbouncer is not installed"
		return nil
	}
	version, err := versionOf(ctx, program, "--version")
	if err != nil {
		return err
	}
	address, port, err := freeAddress()
	if err != nil {
		return err
	}
	config := filepath.Join(p.Folder, "pgbouncer.ini")
	if err := writePublic(config, fmt.Sprintf(poolerConfig, p.cluster.Port, port)+poolerSettings); err != nil {
		return err
	}
	args := []string{config}
	if os.Geteuid() == 0 {
		args = []string{"-u", "nobody", config} // it refuses to run as root
	}
	p.Pooler, err = p.start(ctx, "PgBouncer", address, program, args...)
	p.Pooler.Version, p.Pooler.Setting = version, strings.ReplaceAll(poolerSettings, "\n", ", ")
	return err
}

const poolerConfig = `[databases]
* = host=127.0.0.1 port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
`

const poolerSettings = `auth_type = any
pool_mode = session
default_pool_size = 200
max_client_conn = 1000`

// startBalancer starts HAProxy in TCP mode before PostgreSQL, with a thread for each processor.
func (p *Private) startBalancer(ctx context.Context) error {
	program, found := installed("haproxy")
	if !found {
		p.Balancer.Missing = "haproxy is not installed"
		return nil
	}
	version, err := versionOf(ctx, program, "-v")
	if err != nil {
		return err
	}
	address, _, err := freeAddress()
	if err != nil {
		return err
	}
	config := filepath.Join(p.Folder, "haproxy.cfg")
	if err := writePublic(config, fmt.Sprintf(balancerConfig, address, p.cluster.Port)); err != nil {
		return err
	}
	p.Balancer, err = p.start(ctx, "HAProxy", address, program, "-f", config)
	p.Balancer.Version, p.Balancer.Setting = version, "mode tcp"
	return err
}

const balancerConfig = `defaults
	mode tcp
	timeout connect 5s
	timeout client 1h
	timeout server 1h
	maxconn 1000
listen postgres
	bind %s
	server one 127.0.0.1:%d
`

//go:embed least/least.c
var leastProgram []byte

// startLeast builds and starts the program that answers fixed bytes.
func (p *Private) startLeast(ctx context.Context) error {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		p.Least.Missing = "there is no C compiler: cc"
		return nil
	}
	version, err := versionOf(ctx, compiler, "--version")
	if err != nil {
		return err
	}
	source, program := filepath.Join(p.Folder, "least.c"), filepath.Join(p.Folder, "least")
	if err := os.WriteFile(source, leastProgram, 0o644); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, compiler, "-O2", "-o", program, source).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", compiler, err, out)
	}
	address, port, err := freeAddress()
	if err != nil {
		return err
	}
	p.Least, err = p.start(ctx, "the least, in C", address, program, port)
	p.Least.Version = version
	return err
}

// startRedis starts Redis without persistence.
func (p *Private) startRedis(ctx context.Context) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		p.Redis.Missing = "redis-server is not installed"
		return nil
	}
	address, port, err := freeAddress()
	if err != nil {
		return err
	}
	p.Redis, err = p.start(ctx, "Redis", address, program,
		"--bind", "127.0.0.1", "--port", port, "--dir", p.Folder, "--save", "")
	if err != nil {
		return err
	}
	p.Redis.URL, p.Redis.Setting = "redis://"+address, `save ""`
	p.Redis.Version, err = driver.RedisVersion(ctx, p.Redis.URL)
	return err
}

// freeAddress is a free port on the loopback.
func freeAddress() (address, port string, err error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer ln.Close()
	_, port, err = net.SplitHostPort(ln.Addr().String())
	return ln.Addr().String(), port, err
}

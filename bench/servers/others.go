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

// another starts such a server. program is its name, or that of its compiler. command writes the configuration, and
// returns the program to start and its arguments.
func (p *Private) another(ctx context.Context, s *Server, name, program, versionFlag, setting string,
	command func(path, address, port string) ([]string, error),
) error {
	path, found := installed(program)
	if !found {
		s.Missing = program + " is not installed"
		return nil
	}
	version, err := versionOf(ctx, path, versionFlag)
	if err != nil {
		return err
	}
	address, port, err := freeAddress()
	if err != nil {
		return err
	}
	args, err := command(path, address, port)
	if err != nil {
		return err
	}
	*s, err = p.start(ctx, name, address, args[0], args[1:]...)
	s.Version, s.Setting = version, setting
	return err
}

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
	setting := strings.ReplaceAll(poolerSettings, "\n", ", ")
	return p.another(ctx, &p.Pooler, "PgBouncer", "pgbouncer", "--version", setting,
		func(path, _, port string) ([]string, error) {
			config := filepath.Join(p.Folder, "pgbouncer.ini")
			command := []string{path, config}
			if os.Geteuid() == 0 {
				command = []string{path, "-u", "nobody", config} // it refuses to run as root
			}
			return command, writePublic(config, fmt.Sprintf(poolerConfig, p.cluster.Port, port)+poolerSettings)
		})
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
	return p.another(ctx, &p.Balancer, "HAProxy", "haproxy", "-v", "mode tcp",
		func(path, address, _ string) ([]string, error) {
			config := filepath.Join(p.Folder, "haproxy.cfg")
			return []string{path, "-f", config},
				writePublic(config, fmt.Sprintf(balancerConfig, address, p.cluster.Port))
		})
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
	return p.another(ctx, &p.Least, "the least, in C", "cc", "--version", "",
		func(compiler, _, port string) ([]string, error) {
			source, program := filepath.Join(p.Folder, "least.c"), filepath.Join(p.Folder, "least")
			if err := os.WriteFile(source, leastProgram, 0o644); err != nil {
				return nil, err
			}
			out, err := exec.CommandContext(ctx, compiler, "-O2", "-o", program, source).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w: %s", compiler, err, out)
			}
			return []string{program, port}, err
		})
}

// startRedis starts Redis without persistence.
func (p *Private) startRedis(ctx context.Context) error {
	var listens string
	err := p.another(ctx, &p.Redis, "Redis", "redis-server", "--version", `save ""`,
		func(path, address, port string) ([]string, error) {
			listens = "redis://" + address
			return []string{path, "--bind", "127.0.0.1", "--port", port, "--dir", p.Folder, "--save", ""}, nil
		})
	if err != nil || p.Redis.URL == "" {
		return err
	}
	p.Redis.URL = listens
	p.Redis.Version, err = driver.RedisVersion(ctx, listens)
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

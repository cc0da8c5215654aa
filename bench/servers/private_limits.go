package servers

import (
	"context"
	_ "embed" // the program in C
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// The servers that the proxy is compared with as a hop: one that passes on bytes, and one that does the least.

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
	address, err := freeAddress()
	if err != nil {
		return err
	}
	config := filepath.Join(p.Folder, "haproxy.cfg")
	if err := writePublic(config, fmt.Sprintf(balancerConfig, address, p.cluster.Port)); err != nil {
		return err
	}
	balancer, err := startChild(ctx, "HAProxy", address, exec.Command(program, "-f", config))
	if err != nil {
		return err
	}
	p.children = append(p.children, balancer)
	p.Balancer = Server{
		URL: at(p.Postgres.URL, address), PID: balancer.pid(), Version: version, Setting: "mode tcp",
	}
	return nil
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
var limitProgram []byte

// startLimit builds and starts the program that answers fixed bytes.
func (p *Private) startLimit(ctx context.Context) error {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		p.Limit.Missing = "there is no C compiler: cc"
		return nil
	}
	version, err := versionOf(ctx, compiler, "--version")
	if err != nil {
		return err
	}
	source, program := filepath.Join(p.Folder, "least.c"), filepath.Join(p.Folder, "least")
	if err := os.WriteFile(source, limitProgram, 0o644); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, compiler, "-O2", "-o", program, source).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", compiler, err, out)
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(address)
	server, err := startChild(ctx, "the least, in C", address, exec.Command(program, port))
	if err != nil {
		return err
	}
	p.children = append(p.children, server)
	p.Limit = Server{URL: at(p.Postgres.URL, address), PID: server.pid(), Version: version}
	return nil
}

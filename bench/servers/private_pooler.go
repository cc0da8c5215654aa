package servers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// startPooler starts PgBouncer with its defaults, except for a larger pool and what it must know. It pools sessions, or
// transactions if clients have passwords. If it is not installed, Pooler says so.
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
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(address)
	config, settings, logins := filepath.Join(p.Folder, "pgbouncer.ini"), sessionSettings, ""
	if p.transactions {
		settings, logins = transactionSettings, "\nauth_file = "+p.logins
	}
	err = writePublic(config, fmt.Sprintf(poolerConfig, p.cluster.Port, port)+settings+logins)
	if err != nil {
		return err
	}
	args := []string{config}
	if os.Geteuid() == 0 {
		args = []string{"-u", "nobody", config} // it refuses to run as root
	}
	pooler, err := startChild(ctx, "PgBouncer", address, exec.Command(program, args...))
	if err != nil {
		return err
	}
	p.children = append(p.children, pooler)
	p.Pooler = Server{
		URL: at(p.Postgres.URL, address), PID: pooler.pid(), Version: version,
		Setting: strings.ReplaceAll(settings, "\n", ", "),
	}
	return nil
}

const poolerConfig = `[databases]
* = host=127.0.0.1 port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
`

const (
	sessionSettings = `auth_type = any
pool_mode = session
default_pool_size = 200
max_client_conn = 1000`
	// twenty is PgBouncer's default size of a pool
	transactionSettings = `auth_type = scram-sha-256
pool_mode = transaction
default_pool_size = 20
max_client_conn = 12000`
)

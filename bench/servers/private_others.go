package servers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"pgflurry/bench/driver"
)

// Start starts what a benchmark needs besides PostgreSQL and the proxy. A server that is not installed says so in
// Missing.
func (p *Private) Start(ctx context.Context, n Needs) error {
	p.Pooler.Missing, p.Redis.Missing, p.MariaDB.Missing, p.IDDatabase.Missing = notAsked, notAsked, notAsked, notAsked
	p.transactions = n.Passwords
	for _, server := range []struct {
		needed bool
		start  func(context.Context) error
	}{
		{n.Passwords || n.IDDatabase, p.startLogins},
		{n.Pooler, p.startPooler},
		{n.Balancer, p.startBalancer},
		{n.Limit, p.startLimit},
		{n.Redis, p.startRedis},
		{n.MariaDB, p.startMariaDB},
		{n.Idle, p.startIdle},
		{n.IDDatabase, p.startIDDatabase},
	} {
		if server.needed {
			if err := server.start(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// IdleWindow is the window of the idle proxy, short so that a turn sees several renewals. Whatever its length, a proxy
// renews after a third of the window.
const IdleWindow = 3 * time.Second

// startIdle starts a second proxy, which gets no clients.
func (p *Private) startIdle(ctx context.Context) (err error) {
	p.Idle, err = p.serve(ctx, "the idle proxy", "idle", "--window", IdleWindow.String())
	p.Idle.Setting = "window = " + IdleWindow.String()
	return err
}

const notAsked = "no source that is measured asks it"

// startRedis starts Redis without persistence.
func (p *Private) startRedis(ctx context.Context) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		p.Redis.Missing = "redis-server is not installed"
		return nil
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(address)
	server, err := startChild(ctx, "Redis", address,
		exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--dir", p.Folder, "--save", ""))
	if err != nil {
		return err
	}
	p.children = append(p.children, server)
	p.Redis = Server{URL: "redis://" + address, PID: server.pid(), Setting: `save ""`}
	p.Redis.Version, err = driver.RedisVersion(ctx, p.Redis.URL)
	return err
}

const mariadbConnections = "500"

// startMariaDB creates a data folder and starts MariaDB on it. Only the number of connections is not the default.
func (p *Private) startMariaDB(ctx context.Context) error {
	installer, err := exec.LookPath("mariadb-install-db")
	program, err2 := exec.LookPath("mariadbd")
	if err != nil || err2 != nil {
		p.MariaDB.Missing = "mariadbd and mariadb-install-db are not installed"
		return nil
	}
	data, temporary := filepath.Join(p.Folder, "mariadb"), filepath.Join(p.Folder, "mariadb.tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	// At its start a server removes the temporary tables of each other server in its temporary folder.
	common := []string{"--no-defaults", "--datadir=" + data, "--tmpdir=" + temporary}
	if os.Geteuid() == 0 {
		common = append(common, "--user=root") // as root it refuses to start otherwise
	}
	install := exec.CommandContext(ctx, installer,
		append(common, "--auth-root-authentication-method=normal", "--skip-test-db")...)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", installer, err, out)
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(address)
	server, err := startChild(ctx, "MariaDB", address,
		exec.Command(program, append(common, "--bind-address=127.0.0.1", "--port="+port,
			"--socket="+filepath.Join(p.Folder, "mariadb.sock"), "--max-connections="+mariadbConnections)...))
	if err != nil {
		return err
	}
	p.children = append(p.children, server)
	root := "root@tcp(" + address + ")/"
	if err := driver.CreateMariaDBDatabase(ctx, root); err != nil {
		return err
	}
	p.MariaDB = Server{
		URL: root + "pgflurry_bench", PID: server.pid(), Setting: "max_connections = " + mariadbConnections,
	}
	p.MariaDB.Version, err = driver.MariaDBVersion(ctx, p.MariaDB.URL)
	return err
}

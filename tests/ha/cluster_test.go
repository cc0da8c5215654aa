//go:build full && linux

package ha

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/proxy/scram"
	"pgflurry/tests/support/load"
	"pgflurry/tests/support/machines"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// The machines have the names that deploy/ha uses.
var (
	dbs     = []string{"db1", "db2", "db3"}
	etcds   = []string{"etcd1", "etcd2", "etcd3"}
	proxies = []string{"proxy1", "proxy2", "proxy3"}
)

const balancer = "haproxy"

// The modes of replication.
type mode string

const (
	synchronous  mode = "synchronous"
	strict       mode = "synchronous strict"
	asynchronous mode = "asynchronous"
)

// cluster is the set-up of deploy/ha, on machines.
type cluster struct {
	t        testing.TB
	world    *machines.World
	mode     mode
	folder   string // of the logs
	services map[string]*machines.Process
	patience time.Duration // limits each wait; a longer one hangs
	restarts int           // how often a Patroni had to be restarted by hand
	copies   int           // how often a standby had to be copied anew
}

// The passwords. deploy/ha leaves them to the environment.
const (
	superuser   = "a superuser"
	replication = "a standby"
	rewinder    = "a rewinder"
	owner       = "an owner"
	lease       = "a lease"
	application = "an application"
	idUser      = "storm"
	idPassword  = "after the calm"
)

var (
	// quick has shorter times for a network without delays, so that a failover in a storm takes seconds
	quick = times{map[string]any{"ttl": 5, "loop_wait": 1, "retry_timeout": 2}, 2 * time.Minute}
	// shipped has the times of deploy/ha
	shipped = times{nil, 3 * time.Minute}
)

// times are settings of Patroni for its API, and how long a test waits with them.
type times struct {
	changes  map[string]any
	patience time.Duration
}

// newCluster starts everything.
func newCluster(t testing.TB, mode mode, times times) *cluster {
	t.Helper()
	for _, tool := range []string{"etcd", "patroni", "haproxy", "psql"} {
		server.Tool(t, tool)
	}
	c := &cluster{
		t: t, mode: mode, folder: t.TempDir(), services: map[string]*machines.Process{}, patience: times.patience,
		world: machines.New(t, slices.Concat(dbs, etcds, []string{balancer}, proxies)...),
	}
	for _, name := range slices.Concat(etcds, dbs, []string{balancer}, proxies) {
		c.copyFiles(name)
	}
	for _, name := range slices.Concat(etcds, dbs, []string{balancer}) {
		c.start(name)
	}
	c.until(func() error {
		var m members
		return c.ask(dbs[0], "/cluster", &m)
	})
	c.configure(times.changes)
	c.settled()
	c.migrate()
	for _, name := range proxies {
		c.start(name)
	}
	c.until(func() error {
		for _, name := range proxies {
			if held := c.metric(name, "pgflurry_lease_held"); held != 1 {
				return fmt.Errorf("%s holds no worker", name)
			}
		}
		return nil
	})
	return c
}

// configure sets mode and changes over Patroni's API.
func (c *cluster) configure(changes map[string]any) {
	c.t.Helper()
	order := map[string]any{
		"synchronous_mode":        c.mode != asynchronous,
		"synchronous_mode_strict": c.mode == strict,
		// The machines have disks of 1 GiB, and a storm makes many timelines.
		"postgresql": map[string]any{"parameters": map[string]any{
			"max_wal_size": "192MB", "min_wal_size": "80MB", "checkpoint_timeout": "1min",
			"wal_keep_size": "64MB", "max_slot_wal_keep_size": "128MB",
		}},
	}
	maps.Copy(order, changes)
	c.until(func() error {
		_, err := c.tell("PATCH", dbs[0], "/config", order)
		return err
	})
}

// migrate makes roles, database and schema, as roles.sql says.
func (c *cluster) migrate() {
	c.t.Helper()
	c.command(append(os.Environ(), "PGPASSWORD="+superuser), "psql", "-XqAt",
		"host=haproxy port=5000 user=postgres dbname=postgres", "-v", "owner="+owner, "-v", "lease="+lease,
		"-v", "application="+application, "-f", c.file(balancer, "roles.sql"))
	for _, command := range [][]string{{"migrate", "up"}, {"namespace", "set", "--restart-quarantine", "0s"}} {
		c.command(append(os.Environ(), "PGPASSWORD="+owner), program.Path(c.t),
			append(command, "--database", "host=haproxy port=5000 user=owner dbname=app")...)
	}
	c.command(append(os.Environ(), "PGPASSWORD="+owner), "psql", "-XqAt",
		"host=haproxy port=5000 user=owner dbname=app", "-c", "CALL pgflurry.grant_lease('lease')")
	c.checkpoint()
	verifier, err := scram.NewVerifier(idPassword, scram.DefaultIterations)
	if err != nil {
		c.t.Fatal(err)
	}
	conn := c.connect(primaryURL("owner", owner))
	server.Do(c.t, conn, "INSERT INTO pgflurry.client (name, verifier) VALUES ($1, $2)", idUser, verifier.Text())
}

// checkpoint lets the standbys write the function's sequences to disk, as README.md of deploy/ha says. A standby that
// is promoted before that cannot read them.
func (c *cluster) checkpoint() {
	c.t.Helper()
	now := c.settled()
	for _, name := range append([]string{now.primary}, others(now)...) {
		conn := c.connect(at(name, "app", "postgres", superuser))
		server.Do(c.t, conn, "CHECKPOINT")
		if name == now.primary {
			end := server.Value[string](c.t, conn, "SELECT pg_current_wal_lsn()::text")
			for _, standby := range others(now) {
				server.Eventually(c.t, c.connect(at(standby, "app", "postgres", superuser)),
					"(SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn)", end)
			}
		}
	}
}

func (c *cluster) command(environment []string, name string, args ...string) string {
	c.t.Helper()
	command := exec.Command(name, args...)
	command.Env = environment
	said, err := command.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", name, err, said)
	}
	return string(said)
}

// connect waits for the server behind a URL.
func (c *cluster) connect(url string) *pgx.Conn {
	c.t.Helper()
	var conn *pgx.Conn
	c.until(func() (err error) {
		ctx, cancel := context.WithTimeout(c.t.Context(), c.patience)
		defer cancel()
		conn, err = pgx.Connect(ctx, url)
		return err
	})
	c.t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// copyFiles copies deploy/ha to the disk of a machine.
func (c *cluster) copyFiles(name string) {
	c.t.Helper()
	err := os.CopyFS(c.file(name, ""), os.DirFS(filepath.Join("..", "..", "deploy", "ha")))
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) file(machine, name string) string {
	return filepath.Join(c.world.Machine(machine).Disk(), "deploy", name)
}

// start starts the service of a machine.
func (c *cluster) start(name string) {
	c.t.Helper()
	m := c.world.Machine(name)
	command := machines.Command{Dir: m.Disk()}
	switch {
	case slices.Contains(etcds, name):
		command.Name, command.Env = "etcd", c.etcd(name)
	case slices.Contains(dbs, name):
		command.Name, command.Args, command.As = "patroni", []string{c.file(name, "patroni.yml")}, "postgres"
		command.Env = c.patroni(name)
	case name == balancer:
		command.Name, command.Args = "haproxy", []string{"-db", "-f", c.file(name, "haproxy.cfg")}
	default:
		command.Name, command.Args = program.Path(c.t), []string{"serve", "--config", c.file(name, "pgflurry.toml")}
		command.Env = c.proxy(name)
	}
	command.Log = filepath.Join(c.folder, name+".log")
	c.services[name] = m.Start(c.t, command)
}

func (c *cluster) names() []string { return slices.Sorted(maps.Keys(c.services)) }

// etcd returns the environment of etcd.env, with the host's own three lines.
func (c *cluster) etcd(name string) (environment []string) {
	c.t.Helper()
	text, err := os.ReadFile(c.file(name, "etcd.env"))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			environment = append(environment, line)
		}
	}
	return append(environment, "ETCD_NAME="+name, "ETCD_INITIAL_ADVERTISE_PEER_URLS=http://"+name+":2380",
		"ETCD_ADVERTISE_CLIENT_URLS=http://"+name+":2379", "ETCD_DATA_DIR="+c.world.Machine(name).Disk()+"/etcd")
}

// patroni returns the environment that the head of patroni.yml lists, and the folders of the test.
func (c *cluster) patroni(name string) []string {
	disk := c.world.Machine(name).Disk()
	return []string{
		"PATRONI_NAME=" + name,
		"PATRONI_RESTAPI_CONNECT_ADDRESS=" + name + ":8008",
		"PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + name + ":5432",
		"PATRONI_SUPERUSER_PASSWORD=" + superuser,
		"PATRONI_REPLICATION_PASSWORD=" + replication,
		"PATRONI_REWIND_PASSWORD=" + rewinder,
		"PATRONI_RESTAPI_USERNAME=" + restUser,
		"PATRONI_RESTAPI_PASSWORD=" + restPassword,
		"PATRONI_POSTGRESQL_DATA_DIR=" + disk + "/data",
		"PATRONI_POSTGRESQL_PGPASS=" + disk + "/pgpass",
	}
}

// proxy returns the settings that differ between proxies, and the lease database, which the file expects in /etc. One
// proxy reaches the primary through HAProxy.
func (c *cluster) proxy(name string) []string {
	environment := []string{
		"PGFLURRY_NODE=" + name, "PGFLURRY_ADVERTISE=" + name + ":6432",
		"PGFLURRY_LEASE_DATABASE=host=db1,db2,db3 dbname=app user=lease password='" + lease +
			"' target_session_attrs=read-write connect_timeout=2",
	}
	if name == proxies[0] {
		environment = append(environment, "PGFLURRY_UPSTREAM=haproxy:5000", "PGFLURRY_UPSTREAM_PRIMARY=false")
	}
	return environment
}

// primaryURL returns a URL that leads to the primary without HAProxy.
func primaryURL(user, password string) string {
	return at("db1:5432,db2:5432,db3:5432", "app", user, password) +
		"?target_session_attrs=read-write&connect_timeout=2"
}

func at(hosts, database, user, password string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s", user, strings.ReplaceAll(password, " ", "%20"), hosts, database)
}

// targets returns the addresses for the clients of a storm.
func (c *cluster) targets() load.Targets {
	t := load.Targets{
		Owner:   primaryURL("owner", owner),
		Direct:  primaryURL("application", application),
		HAProxy: at("haproxy:5000", "app", "application", application),
	}
	all := []string{}
	for _, name := range proxies {
		t.Proxies = append(t.Proxies, at(name+":6432", "app", "application", application))
		t.IDDatabases = append(t.IDDatabases, at(name+":6432", "pgflurry", idUser, idPassword))
		all = append(all, name+":6432")
	}
	t.AllProxies = at(strings.Join(all, ","), "app", "application", application) + "?connect_timeout=2"
	return t
}

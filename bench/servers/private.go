package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgflurry/internal/postgres"
)

// Private are servers of the benchmark's own: on free ports of the loopback, with their data in one folder.
type Private struct {
	Servers
	Folder   string
	program  string // path of pgflurry
	cluster  *postgres.Cluster
	children []*child
}

// PrivateSettings say what to start.
type PrivateSettings struct {
	Pgflurry string            // path of the program
	Bin      string            // folder of PostgreSQL's programs; empty: search for it
	Say      func(what string) // called with what takes long
}

// maxConnections of PostgreSQL is enough for all clients at once.
const maxConnections = "500"

// StartPrivate starts PostgreSQL with pgflurry's schema, and a proxy as a process of its own. The caller has to call
// Stop, even after an error.
func StartPrivate(ctx context.Context, s PrivateSettings) (*Private, error) {
	p := &Private{}
	binaries, err := postgres.Find(s.Bin)
	if err != nil {
		return p, err
	}
	if p.Folder, err = os.MkdirTemp("/var/tmp", "pgflurry-bench-"); err != nil {
		return p, err
	}
	if err := os.Chmod(p.Folder, 0o755); err != nil { // PostgreSQL may run as another user
		return p, err
	}
	s.Say("starting a private PostgreSQL " + binaries.Version)
	s.Say("data in " + p.Folder)
	p.cluster, err = postgres.Start(ctx, postgres.Settings{
		Provider: postgres.Provider{Binaries: binaries}, Data: filepath.Join(p.Folder, "data"),
		Options: map[string]string{"max_connections": maxConnections},
	})
	if err != nil {
		return p, err
	}
	p.Binaries = binaries.Dir
	p.Postgres = Server{
		URL: p.cluster.URL("postgres"), PID: p.cluster.PID, Version: "PostgreSQL " + binaries.Version,
		Setting: "max_connections = " + maxConnections,
	}
	p.program = s.Pgflurry
	return p, p.startProxy(ctx)
}

// startProxy migrates the database and starts the proxy.
func (p *Private) startProxy(ctx context.Context) error {
	version, err := exec.CommandContext(ctx, p.program, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", p.program, err)
	}
	if out, err := exec.CommandContext(ctx, p.program, "migrate", "up", "--database", p.Postgres.URL).
		CombinedOutput(); err != nil {
		return fmt.Errorf("%s migrate up: %w: %s", p.program, err, out)
	}
	p.Proxy, err = p.serve(ctx, "the proxy", "bench")
	if err != nil {
		return err
	}
	source, err := Built(p.program)
	p.Proxy.Version = strings.TrimSpace(string(version)) + ", " + source
	return err
}

// serve starts a proxy as a process of its own.
func (p *Private) serve(ctx context.Context, name, node string, options ...string) (Server, error) {
	address, _, err := freeAddress()
	if err != nil {
		return Server{}, err
	}
	upstream := net.JoinHostPort("127.0.0.1", strconv.Itoa(p.cluster.Port))
	return p.start(ctx, name, address, p.program, append([]string{
		"serve", "--listen", address, "--upstream", upstream, "--lease-database", p.Postgres.URL, "--node", node,
		"--drain-timeout", "1s",
	}, options...)...)
}

// Start starts what a benchmark needs besides PostgreSQL and the proxy.
func (p *Private) Start(ctx context.Context, n Needs) error {
	for _, server := range []struct {
		needed bool
		start  func(context.Context) error
	}{
		{n.Pooler, p.startPooler},
		{n.Balancer, p.startBalancer},
		{n.Least, p.startLeast},
		{n.Redis, p.startRedis},
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

// startIDDatabase starts a second proxy, only for its ID database.
func (p *Private) startIDDatabase(ctx context.Context) (err error) {
	const name = "pgflurry"
	p.IDDatabase, err = p.serve(ctx, "the ID database", "ids", "--id-database", name, "--id-auth", "trust")
	if err != nil {
		return err
	}
	u, err := url.Parse(p.IDDatabase.URL)
	if err != nil {
		return err
	}
	u.Path = "/" + name
	p.IDDatabase.URL = u.String()
	return nil
}

const fsyncs = 100 // writes that Fsync times

// Fsync is the median time in which a page that is written in the servers' folder reaches the disk. A draw that waits
// for the disk takes at least that long.
func (p *Private) Fsync() (time.Duration, error) {
	file, err := os.CreateTemp(p.Folder, "fsync-")
	if err != nil {
		return 0, err
	}
	defer func() { _, _ = file.Close(), os.Remove(file.Name()) }()
	page, took := make([]byte, 8192), make([]time.Duration, fsyncs)
	for i := range took {
		began := time.Now()
		if _, err := file.WriteAt(page, 0); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[fsyncs/2], nil
}

// Stop ends all servers and removes the folder.
func (p *Private) Stop() error {
	var err error
	for _, c := range p.children {
		c.stop()
	}
	if p.cluster != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		err = p.cluster.Stop(ctx)
	}
	if p.Folder != "" {
		err = errors.Join(err, os.RemoveAll(p.Folder))
	}
	return err
}

// at replaces the address in a connection string.
func at(connection, address string) string {
	u, err := url.Parse(connection)
	if err != nil {
		panic(err) // the string is our own
	}
	u.Host = address
	return u.String()
}

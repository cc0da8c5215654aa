package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgflurry/bench/driver"
	"pgflurry/internal/postgres"
)

// Private are servers of the benchmark's own: on free ports of the loopback, with their data in one folder.
type Private struct {
	Servers
	Folder   string
	program  string // path of pgflurry
	cluster  *postgres.Cluster
	children []*child
	logins   string // file with the verifier of Login, for PgBouncer and pgflurry; empty: not needed
	// PgBouncer pools transactions instead of sessions
	transactions bool
}

// PrivateSettings say what to start.
type PrivateSettings struct {
	Pgflurry string            // path of the program
	Bin      string            // folder of PostgreSQL's programs; empty: search for it
	Options  map[string]string // settings of PostgreSQL, by name
	Say      func(what string) // called with what takes long
}

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
		Provider: postgres.Provider{Binaries: binaries}, Data: filepath.Join(p.Folder, "data"), Options: s.Options,
		HBA: accessRules,
	})
	if err != nil {
		return p, err
	}
	p.Binaries = binaries.Dir
	p.Postgres = Server{
		URL: p.cluster.URL("postgres"), PID: p.cluster.PID, Version: "PostgreSQL " + binaries.Version,
		Setting: settingsOf(s.Options),
	}
	p.program = s.Pgflurry
	return p, p.startProxy(ctx)
}

// accessRules let in everybody on this machine, but ask Login for its password.
const accessRules = `host all ` + driver.Login + ` 127.0.0.1/32 scram-sha-256
local all all trust
host all all 127.0.0.1/32 trust
`

// settingsOf formats settings for a report: "max_connections = 500".
func settingsOf(options map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		all = append(all, name+" = "+options[name])
	}
	return strings.Join(all, ", ")
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
	address, err := freeAddress()
	if err != nil {
		return Server{}, err
	}
	upstream := net.JoinHostPort("127.0.0.1", strconv.Itoa(p.cluster.Port))
	proxy, err := startChild(ctx, name, address, exec.Command(p.program, append([]string{
		"serve", "--listen", address, "--upstream", upstream,
		"--lease-database", p.Postgres.URL, "--node", node, "--drain-timeout", "1s",
	}, options...)...))
	if err != nil {
		return Server{}, err
	}
	p.children = append(p.children, proxy)
	return Server{URL: at(p.Postgres.URL, address), PID: proxy.pid()}, nil
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

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

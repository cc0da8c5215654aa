package servers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pgflurry/bench/driver"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// Server is one server that can be measured.
type Server struct {
	URL     string // for clients; empty: there is none, and Missing says why
	PID     int    // of its first process; 0: its processor time cannot be measured
	Version string // as it reports it
	Setting string // settings other than addresses; empty: none, or not known
	Missing string
}

// Servers are PostgreSQL, the servers in front of it, and those of other makers.
type Servers struct {
	Postgres, Proxy, Pooler, Redis Server
	// IDDatabase is a proxy's ID database. A private one has a proxy of its own.
	IDDatabase Server
	// Balancer is HAProxy in TCP mode before PostgreSQL. Least answers fixed bytes; PostgreSQL takes no part.
	Balancer, Least Server
	// Binaries is the folder of PostgreSQL's programs; empty: not known.
	Binaries string
}

// Needs are the servers that a benchmark needs besides PostgreSQL and the proxy.
type Needs struct {
	Pooler, Redis, IDDatabase, Balancer, Least bool
}

// option is a flag that names a running server.
type option struct {
	of      *Server
	name    string
	version func(context.Context, string) (string, error)
}

func (s *Servers) options() []option {
	return []option{
		{&s.Postgres, "--postgres", driver.PostgresVersion},
		{&s.Proxy, "--proxy", behind},
		{&s.IDDatabase, "--id-database", driver.PostgresVersion},
		{&s.Pooler, "--pgbouncer", behind},
		{&s.Redis, "--redis", driver.RedisVersion},
	}
}

// askPatience is how long a given server may take to accept a client and report its version.
const askPatience = 5 * time.Second

// Running asks the given servers for their versions. Only PostgreSQL must have a URL. Their processor time is not
// measured: they may be on another machine.
func Running(ctx context.Context, s Servers) (Servers, error) {
	for _, server := range s.options() {
		if server.of.URL == "" {
			server.of.Missing = server.name + " is not given"
			continue
		}
		asking, end := context.WithTimeout(ctx, askPatience)
		version, err := server.version(asking, server.of.URL)
		silent := asking.Err() != nil && ctx.Err() == nil
		end()
		switch {
		case silent:
			return s, fault.WithHint(
				fmt.Errorf("%s %s has not let a client in within %v",
					server.name, connect.Masked(server.of.URL), askPatience),
				"Is the address right, and does nothing between drop connections?")
		case err != nil:
			return s, fmt.Errorf("%s cannot be asked for its version: %w", server.name, err)
		}
		server.of.Version = version
	}
	return s, nil
}

// Options are the flags that name the servers, quoted for a shell and with masked passwords.
func (s Servers) Options() string {
	var b strings.Builder
	for _, server := range s.options() {
		if server.of.URL != "" {
			fmt.Fprintf(&b, " %s '%s'", server.name, strings.ReplaceAll(connect.Masked(server.of.URL), "'", `'\''`))
		}
	}
	return b.String()
}

// behind checks that the server answers, and returns the version of PostgreSQL. A server in front of PostgreSQL does
// not report its own version.
func behind(ctx context.Context, target string) (string, error) {
	version, err := driver.PostgresVersion(ctx, target)
	return "unknown, in front of " + version, err
}

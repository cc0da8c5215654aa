package servers

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"pgflurry/bench/driver"
	"pgflurry/hint"
)

// Server is one that can be measured.
type Server struct {
	URL     string // for clients; empty: there is none, and Missing says why
	PID     int    // of its first process; 0 if its processor time cannot be taken
	Version string // what it says of itself
	Setting string // what is set but for addresses; empty: nothing, or it is not known
	Missing string
}

// Servers are PostgreSQL, what stands in front of it, and those of other makers.
type Servers struct {
	Postgres, Proxy, Pooler, Redis, MariaDB Server
	// IDDatabase is the virtual database of a proxy, of one of its own where it is private.
	IDDatabase Server
	// Login is the role that clients log in as with a password, by SCRAM; nil: whoever the URLs name.
	Login *url.Userinfo
	// Idle is a proxy that has no clients, with a window of IdleWindow.
	Idle Server
	// Binaries is the folder of PostgreSQL's programs; empty if not known.
	Binaries string
}

// Needs are the servers that a benchmark wants beside PostgreSQL and the proxy.
type Needs struct {
	Pooler, Redis, MariaDB, Idle, IDDatabase bool
	// Passwords: clients log in with a password, and PgBouncer pools transactions, as servers in use do.
	Passwords bool
}

// option is a flag that names a server that runs already.
type option struct {
	of      *Server
	name    string
	version func(context.Context, string) (string, error)
	masked  func(string) string
}

func (s *Servers) options() []option {
	return []option{
		{&s.Postgres, "--postgres", driver.PostgresVersion, maskedURL},
		{&s.Proxy, "--proxy", behind, maskedURL},
		{&s.IDDatabase, "--id-database", driver.IDDatabaseVersion, maskedURL},
		{&s.Pooler, "--pgbouncer", behind, maskedURL},
		{&s.Redis, "--redis", driver.RedisVersion, maskedURL},
		{&s.MariaDB, "--mysql", driver.MariaDBVersion, maskedMariaDB},
	}
}

// askPatience is how long a server that runs already may take to let a client in and say its version.
const askPatience = 5 * time.Second

// Running asks servers that run already for their versions. Each URL may be empty but that of PostgreSQL. Their
// processor time is not taken: they may be on another machine.
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
			return s, hint.With(
				fmt.Errorf("%s %s has not let a client in within %v",
					server.name, server.masked(server.of.URL), askPatience),
				"Is the address right, and does nothing between drop connections?")
		case err != nil:
			return s, fmt.Errorf("%s cannot be asked for its version: %w", server.name, err)
		}
		server.of.Version = version
	}
	return s, nil
}

// Options are the flags that name the servers, as a shell takes them, with passwords masked.
func (s Servers) Options() string {
	var b strings.Builder
	for _, server := range s.options() {
		if server.of.URL != "" {
			fmt.Fprintf(&b, " %s '%s'", server.name, strings.ReplaceAll(server.masked(server.of.URL), "'", `'\''`))
		}
	}
	return b.String()
}

// behind says that the server answers, with what PostgreSQL says of itself: what stands in front of it does not say its
// own version.
func behind(ctx context.Context, target string) (string, error) {
	version, err := driver.PostgresVersion(ctx, target)
	return "unknown, in front of " + version, err
}

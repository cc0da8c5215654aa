package bench

import (
	"context"
	_ "embed" // the SQL
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Server is one that can be measured.
type Server struct {
	URL     string // for clients; empty: there is none, and Missing says why
	PID     int    // of its first process; 0 if its processor time cannot be taken
	Version string // what it says of itself
	Missing string
}

// Servers are PostgreSQL, what stands in front of it, and those of other makers.
type Servers struct {
	Postgres, Proxy, Pooler, Redis, MariaDB Server
	// Idle is a proxy that has no clients, with a window of IdleWindow.
	Idle Server
	// Binaries is the folder of PostgreSQL's programs; empty if not known.
	Binaries string
}

// Needs are the servers that a benchmark wants beside PostgreSQL and the proxy.
type Needs struct{ Pooler, Redis, MariaDB, Idle bool }

func (s Servers) at(p place) Server {
	return [...]Server{fromPostgres: s.Postgres, fromProxy: s.Proxy, fromPooler: s.Pooler, fromRedis: s.Redis, fromMariaDB: s.MariaDB}[p]
}

//go:embed sql/version.sql
var versionSQL string

// Running asks servers that run already for their versions. Each URL may be empty but that of PostgreSQL. Their processor time is
// not taken: they may be on another machine.
func Running(ctx context.Context, s Servers) (Servers, error) {
	for _, server := range []struct {
		of      *Server
		flag    string
		version func(context.Context, string) (string, error)
	}{
		{&s.Postgres, "--postgres", postgresVersion},
		{&s.Proxy, "--proxy", postgresVersion},
		{&s.Pooler, "--pgbouncer", postgresVersion},
		{&s.Redis, "--redis", redisVersion},
		{&s.MariaDB, "--mysql", mariadbVersion},
	} {
		if server.of.URL == "" {
			server.of.Missing = server.flag + " is not given"
			continue
		}
		version, err := server.version(ctx, server.of.URL)
		if err != nil {
			return s, fmt.Errorf("%s cannot be asked for its version: %w", server.flag, err)
		}
		server.of.Version = version
	}
	return s, nil
}

func postgresVersion(ctx context.Context, target string) (version string, err error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return version, conn.QueryRow(ctx, versionSQL, pgx.QueryExecModeSimpleProtocol).Scan(&version)
}

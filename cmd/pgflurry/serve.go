package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/connstring"
)

func newServe() *cobra.Command {
	var s proxySettings
	var logs logSettings
	cmd := &cobra.Command{
		Use:   "serve --upstream HOST:PORT --lease-database URL",
		Short: "Run the proxy",
		Long: `Serve relays between PostgreSQL clients and one upstream, and answers SELECT next_snowflake() from memory
in sessions to the databases of the namespace.

The worker in its IDs is leased in the lease database. While no worker is held, everything is relayed and the
function inside PostgreSQL answers; serve says so and keeps trying.

On SIGTERM or Ctrl-C it sends idle clients away, waits for open transactions up to --drain-timeout, gives the
worker back and ends. A second signal ends it at once. On SIGHUP it reads the files of TLS again; open sessions
do not notice.`,
		Example: `  pgflurry serve --upstream 127.0.0.1:5432 --lease-database postgres://pgflurry@127.0.0.1/app
  pgflurry serve --listen /run/pgflurry/.s.PGSQL.6432 --upstream /var/run/postgresql --lease-database "host=/var/run/postgresql dbname=app"
  PGFLURRY_UPSTREAM=db:5432 PGFLURRY_LEASE_DATABASE=postgres://pgflurry@db/app pgflurry serve --databases app,reports
  pgflurry serve --upstream db.example.com:5432 --upstream-tls verify-full --upstream-tls-ca system --lease-database "postgres://pgflurry@db.example.com/app?sslmode=verify-full&sslrootcert=system"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, endLog, err := logs.open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer endLog()
			s.log = log
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP)
			defer signal.Stop(hangups)
			s.reload = hangups
			return runProxy(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", defaultListen, "address for clients: HOST:PORT, or the path of a Unix socket")
	f.StringVar(&s.upstream, "upstream", "", "PostgreSQL or pooler behind the proxy: HOST:PORT, a Unix socket, or its directory (port 5432) (required)")
	f.StringVar(&s.leaseDatabase, "lease-database", "", "connection string of the database with the worker table (required)")
	f.StringSliceVar(&s.databases, "databases", nil, "databases whose sessions are answered (default: the lease database)")
	f.StringVar(&s.node, "node", hostname(), "name of this node, the same after a restart: it prefers its own last worker")
	f.StringVar(&s.datacenter, "datacenter", "", "`NUMBER` of this node's datacenter, where the layout has bits for it: only its workers are taken")
	f.DurationVar(&s.window, "window", 60*time.Second, "how far ahead the lease reserves, which is how long PostgreSQL may be away")
	f.DurationVar(&s.drainTimeout, "drain-timeout", 30*time.Second, "how long open transactions may go on after the first signal")
	s.limits.flags(f)
	s.tls.flags(f)
	f.StringVar(&logs.level, "log-level", "info", "least level logged to standard error: debug, info, warn or error")
	logs.formatFlag(f)
	return cmd
}

// hostname is the default node name; empty, and then asked for, where the system does not tell.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// socketOrPort reads an address as the flags give it. A path is a Unix socket; of a directory, PostgreSQL's socket in it.
func socketOrPort(flag, address string) (network, place string, err error) {
	switch {
	case address == "":
		return "", "", fmt.Errorf("--%s is missing; expected HOST:PORT or the path of a Unix socket", flag)
	case strings.HasPrefix(address, "/"):
		if info, err := os.Stat(address); err == nil && info.IsDir() {
			address = filepath.Join(address, ".s.PGSQL.5432")
		}
		return "unix", address, nil
	case !strings.Contains(address, ":"), connstring.MayHoldPassword(address):
		return "", "", fmt.Errorf("--%s is %s; expected HOST:PORT or the absolute path of a Unix socket", flag, connstring.Shown(address))
	}
	return "tcp", address, nil
}

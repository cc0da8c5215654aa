package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/logs"
	"pgflurry/internal/node"
)

func newServe() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --upstream HOST:PORT --lease-database URL",
		Short: "Run the proxy",
		Long: `serve relays between PostgreSQL clients and one upstream. In sessions to the databases of the namespace
it answers SELECT next_snowflake() from memory.

The worker in its IDs is leased in the lease database. While serve holds no worker, it relays
everything, and the function inside PostgreSQL answers. The log says so, and serve keeps trying.

On SIGTERM or Ctrl-C it sends idle clients away, and waits for open transactions up to
--drain-timeout. Then it gives the worker back and ends. A second signal ends it at once, if it comes a second
after the first or later.

With --id-database NAME it serves a database of its own beside those of PostgreSQL. Sessions to it get
IDs, and nothing else. They need no connection to PostgreSQL, and go on while that is away. "pgflurry
clients" says who may log in there.

On SIGHUP it reads the configuration file and the files of secrets, accounts and TLS again. "pgflurry
reload" sends that where no shell can. Databases, limits, TLS, the log level and the lease role's
password change, and open sessions stay. The log says what has changed, and what waits for a restart.
If PostgreSQL refuses that password, serve reads it again by itself.

It reports to systemd when it is ready, how it fares and when it stops, and serves the watchdog. A
listening socket from systemd (LISTEN_FDS) takes the place of --listen. While serve restarts, new
clients wait in that socket and are not refused.`,
		Example: `  pgflurry serve --upstream 127.0.0.1:5432 --lease-database postgres://pgflurry@127.0.0.1/app
  pgflurry serve --listen /run/pgflurry/.s.PGSQL.6432 --listen-mode 0770 \
    --upstream /var/run/postgresql --lease-database "host=/var/run/postgresql dbname=app"
  PGFLURRY_UPSTREAM=db:5432 PGFLURRY_LEASE_DATABASE=postgres://pgflurry@db/app \
    pgflurry serve --databases app,reports
  pgflurry serve --upstream db.example.com:5432 \
    --upstream-tls verify-full --upstream-tls-ca system \
    --lease-database "postgres://pgflurry@db.example.com/app?sslmode=verify-full&sslrootcert=system"
  pgflurry serve --upstream 127.0.0.1:5432 --lease-database postgres://pgflurry@127.0.0.1/app \
    --id-database pgflurry --max-connections 100
  pgflurry serve --config /etc/pgflurry.toml --check-config`,
		Args: cobra.NoArgs,
		// Instead of the root's: RunE reports errors of the environment together with all others.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			environ := os.Environ()
			warnOfUnknown(cmd.Root(), environ, cmd.ErrOrStderr())
			if err := takeSockets(&o.given.Settings); err != nil {
				return err
			}
			c := source.Read(cmd.Flags(), environ)
			s := o.settings(c)
			err := c.Err()
			if o.given.CheckOnly {
				if err != nil {
					return err
				}
				return c.Print(cmd.OutOrStdout())
			}
			if err == nil {
				err = o.serve(cmd.Context(), s, c, environ, cmd.ErrOrStderr())
			}
			if err != nil {
				return logFatal(cmd.Context(), cmd, o.given.LogFormat, err)
			}
			return nil
		},
	}
	o.add(cmd.Flags())
	return cmd
}

// serve runs the node until ctx ends.
func (o *serveOptions) serve(
	ctx context.Context, s config.Settings, c *source.Values, environ []string, stderr io.Writer,
) (err error) {
	var queue *logs.Queue
	o.threshold.Set(s.LogLevel)
	if s.Log, queue, err = openLog(stderr, &o.threshold, s.LogFormat); err != nil {
		return err
	}
	defer queue.End()
	built := readBuild()
	s.Log.Info("pgflurry starts", "version", built.version(), "commit", built.commit(),
		"config", cmp.Or(o.given.File, "none"))
	logSignals(ctx, s.Log, queue.End)
	s.LinesLost = queue.Lost
	signal.Ignore(syscall.SIGPIPE) // the reader of the log may end; the proxy must not
	hangups, stop := awaitHangups()
	defer stop()
	r := newReloader(c, environ, o, s)
	s.ReadLease = r.lease
	n, err := node.New(s)
	if err != nil {
		return err
	}
	r.give, r.refused = n.Reload, n.NotReloaded
	manager := newSupervisor(s.Log)
	defer manager.follow(ctx, n.State, s.DrainTimeout)()
	go func() {
		for range hangups {
			manager.reloads(r.reload)
		}
	}()
	return n.Run(ctx)
}

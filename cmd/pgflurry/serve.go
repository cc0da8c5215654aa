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
it answers SELECT next_snowflake() from memory. The worker in its IDs is leased in the lease database.
While serve holds none, it relays everything, and the function inside PostgreSQL answers.

On SIGTERM or Ctrl-C it sends idle clients away, waits for open transactions up to --drain-timeout,
gives the worker back and ends. A second signal, at least a second later, ends it at once. On SIGHUP, or
"pgflurry reload", it reads the configuration, secrets, accounts and TLS again. The log says what has
changed, and what waits for a restart.

With --id-database NAME it serves a database that needs no PostgreSQL: its sessions get IDs, and nothing
else. "pgflurry clients" says who may log in there.

It reports to systemd, and serves the watchdog. A listening socket from systemd (LISTEN_FDS) takes the
place of --listen. While serve restarts, new clients wait in that socket and are not refused.`,
		Example: `  pgflurry serve --upstream 127.0.0.1:5432 --lease-database postgres://pgflurry@127.0.0.1/app
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

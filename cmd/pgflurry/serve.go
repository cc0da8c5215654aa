package main

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"pgflurry/node"
)

func newServe() *cobra.Command {
	var s node.Settings
	var datacenter string
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
  pgflurry serve --listen /run/pgflurry/.s.PGSQL.6432 --upstream /var/run/postgresql \
    --lease-database "host=/var/run/postgresql dbname=app"
  PGFLURRY_UPSTREAM=db:5432 PGFLURRY_LEASE_DATABASE=postgres://pgflurry@db/app pgflurry serve --databases app,reports
  pgflurry serve --upstream db.example.com:5432 --upstream-tls verify-full --upstream-tls-ca system \
    --lease-database "postgres://pgflurry@db.example.com/app?sslmode=verify-full&sslrootcert=system"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var queue *logQueue
			var err error
			if s.Log, queue, err = logs.open(cmd.ErrOrStderr()); err != nil {
				return err
			}
			defer queue.end()
			s.LinesLost = queue.lost.Load
			if s.Datacenter, err = datacenterOf(datacenter); err != nil {
				return err
			}
			signal.Ignore(syscall.SIGPIPE) // who reads the log may end; the proxy must not
			s.Version = version()
			hangups, stop := awaitHangups()
			defer stop()
			n, err := node.New(s)
			if err != nil {
				return err
			}
			go func() {
				for range hangups {
					n.Reload()
				}
			}()
			return n.Run(cmd.Context())
		},
	}
	serveFlags(cmd.Flags(), &s)
	cmd.Flags().StringVar(&datacenter, "datacenter", "",
		"`NUMBER` of this node's datacenter, where the layout has bits for it: only its workers are taken")
	cmd.Flags().StringVar(&logs.level, "log-level", "info",
		"least level logged to standard error: debug, info, warn or error")
	logs.formatFlag(cmd.Flags())
	return cmd
}

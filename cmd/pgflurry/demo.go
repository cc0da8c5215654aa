package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/demo"
)

func newDemo() *cobra.Command {
	s := demo.Settings{Host: hostname(), Version: version()}
	var format string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start everything on this machine and draw the first IDs",
		Long: `demo needs a PostgreSQL 15 or newer and nothing else. It takes the server of --postgres. Without that
flag it starts a private server: from binaries on this machine or, if there are none, from a Docker
image. It migrates, starts the proxy and draws a few IDs through it. It prints a line for each step,
then a line to paste into a shell, and the address of a status page.

With --postgres it migrates that database for good: schema pgflurry and the functions stay when the
demo ends. "pgflurry migrate down" removes them.

demo runs until Ctrl-C. Then it ends sessions, gives its worker back and stops what it started. The
data folder stays, and the next run uses it again.`,
		Example: `  pgflurry demo
  pgflurry demo --listen 127.0.0.1:7000 --data /var/tmp/flurry
  pgflurry demo --postgres postgres://me@db.example/app`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Usual = !cmd.Flags().Changed("listen")
			s.AnyAdmin = !cmd.Flags().Changed("admin-listen")
			log, queue, err := openLog(cmd.ErrOrStderr(), slog.LevelWarn, format)
			if err != nil {
				return err
			}
			defer queue.End()
			logSignals(cmd.Context(), log, queue.End)
			s.LinesLost = queue.Lost
			return demo.Run(cmd.Context(), s, cmd.OutOrStdout(), log)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Listen, "listen", "127.0.0.1:6532",
		"address for clients: HOST:PORT, or the path of a Unix socket named .s.PGSQL.PORT. "+
			"A Unix socket in --postgres makes the default a private one")
	f.StringVar(&s.Admin, "admin-listen", defaultAdmin,
		"address for metrics, probes and the status page: HOST:PORT, or the path of a Unix socket; empty for none")
	f.StringVar(&s.Data, "data", "",
		"folder for the private server's data, made if absent (default pgflurry-data in this folder; as root "+
			"/var/lib/pgflurry-data, where the server's user cannot enter this folder)")
	f.StringVar(&s.Postgres, "postgres", "", "connection string of a database to use instead of a private server")
	f.StringVar(&s.Bin, "bin", "",
		"folder of the PostgreSQL server binaries (default: looked for on PATH and where packages put them)")
	f.StringVar(&s.Image, "docker-image", "",
		"run the private server from this Docker image (default postgres:17, if no binaries are found)")
	formatFlag(f, &format)
	source.Describe(f, config.Row{Name: "postgres", Secret: true})
	for _, name := range []string{"listen", "admin-listen", "data", "bin"} {
		source.Describe(f, config.Row{Name: name, File: true})
	}
	cmd.MarkFlagsMutuallyExclusive("postgres", "bin", "docker-image")
	return cmd
}

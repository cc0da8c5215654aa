package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/node"
	"pgflurry/migrations"
)

// demoSettings are the flags of demo.
type demoSettings struct {
	listen   string // address for clients, as in serve
	admin    string // address for operators, as in serve; empty: none
	usual    bool   // nobody has given listen
	anyAdmin bool   // take another port if that one is in use
	data     string // data folder; empty: folder() decides
	postgres string // URL of an existing server; empty: start a private one
	bin      string // folder of server binaries; empty: search for them
	image    string // Docker image; empty: binaries first
	format   string
	lost     func() int64 // number of log lines that were dropped
}

// grantPatience is how long demo waits for its first worker. It waits only if the namespace is in quarantine.
const grantPatience = 30 * time.Second

// demoDrain is how long open transactions may go on after Ctrl-C. If the end takes longer than endsAtOnce, demo says
// why.
const (
	demoDrain  = 10 * time.Second
	endsAtOnce = 500 * time.Millisecond
)

func newDemo() *cobra.Command {
	var s demoSettings
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start everything on this machine and draw the first IDs",
		Long: `demo needs a PostgreSQL 15 or newer and nothing else. It takes the server of --postgres. Without that
flag it starts a private server: from binaries on this machine or, if there are none, from a Docker
image. It migrates, starts the proxy and draws a few IDs through it. Then it prints a line to paste
into a shell, and the address of a status page.

With --postgres it migrates that database for good: schema pgflurry and the functions stay when the
demo ends. "pgflurry migrate down" removes them.

demo runs until Ctrl-C. Then it ends sessions, gives its worker back and stops what it started. The
data folder stays, and the next run uses it again.`,
		Example: `  pgflurry demo
  pgflurry demo --listen 127.0.0.1:7000 --data /var/tmp/flurry
  pgflurry demo --postgres postgres://me@db.example/app`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.usual = !cmd.Flags().Changed("listen")
			s.anyAdmin = !cmd.Flags().Changed("admin-listen")
			log, queue, err := openLog(cmd.ErrOrStderr(), slog.LevelWarn, s.format)
			if err != nil {
				return err
			}
			defer queue.End()
			logSignals(cmd.Context(), log, queue.End)
			s.lost = queue.Lost
			return runDemo(cmd.Context(), s, cmd.OutOrStdout(), log)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:6532",
		"address for clients: HOST:PORT, or the path of a Unix socket named .s.PGSQL.PORT. "+
			"A Unix socket in --postgres makes the default a private one")
	f.StringVar(&s.admin, "admin-listen", defaultAdmin,
		"address for metrics, probes and the status page: HOST:PORT, or the path of a Unix socket; empty for none")
	f.StringVar(&s.data, "data", "",
		"folder for the private server's data, made if absent (default pgflurry-data in this folder)")
	f.StringVar(&s.postgres, "postgres", "", "connection string of a database to use instead of a private server")
	f.StringVar(&s.bin, "bin", "",
		"folder of the PostgreSQL server binaries (default: looked for on PATH and where packages put them)")
	f.StringVar(&s.image, "docker-image", "",
		"run the private server from this Docker image (default postgres:17, if no binaries are found)")
	formatFlag(f, &s.format)
	describe(f, config.Row{Name: "postgres", Secret: true})
	for _, name := range []string{"listen", "admin-listen", "data", "bin"} {
		describe(f, config.Row{Name: name, File: true})
	}
	cmd.MarkFlagsMutuallyExclusive("postgres", "bin", "docker-image")
	return cmd
}

// runDemo is the life of a demo, in order. It ends in the reverse order: sessions, worker, server.
func runDemo(ctx context.Context, s demoSettings, out io.Writer, log *slog.Logger) (err error) {
	if err := s.checkListen(); err != nil {
		return err
	}
	server, err := s.openServer(ctx, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()

	if err := migrations.Up(ctx, server.url, server.migration()); err != nil {
		return err
	}
	ctx, cancel := server.while(ctx)
	defer cancel()
	if s.usual && filepath.IsAbs(server.upstream) { // serve refuses TCP in front of a Unix socket
		folder, err := os.MkdirTemp("", "pgflurry-")
		if err != nil {
			return fmt.Errorf("no folder for a Unix socket of the demo: %w; name another place by TMPDIR", err)
		}
		defer os.RemoveAll(folder)
		s.listen = filepath.Join(folder, ".s.PGSQL.6532")
	}
	return s.runNode(ctx, server, out, log)
}

// checkListen checks, before anything is created, that the address is free and that clients can reach it.
func (s demoSettings) checkListen() error {
	at, err := config.ParseAddress("listen", s.listen)
	if err != nil {
		return err
	}
	probe, err := node.Listen(at, 0)
	if err != nil {
		return err
	}
	defer probe.Close()
	_, _, err = clientAddress(probe.Addr())
	return err
}

// freeAdmin is the address for operators. A second demo on this machine finds the default port in use and takes any
// free port: the status page is no reason to fail.
func (s demoSettings) freeAdmin() string {
	if !s.anyAdmin {
		return s.admin
	}
	probe, err := net.Listen("tcp", s.admin)
	if err != nil {
		return "127.0.0.1:0"
	}
	probe.Close()
	return s.admin
}

// runNode runs the proxy until ctx ends. Meanwhile it draws the first IDs and prints them.
func (s demoSettings) runNode(ctx context.Context, server *demoServer, out io.Writer, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	given := config.Given{
		Settings: config.Settings{
			Name: demoNode(), Window: 60 * time.Second, DrainTimeout: demoDrain, Version: version(),
			Log: log, LinesLost: s.lost,
		},
		Listen: s.listen, Upstream: server.upstream, LeaseDatabase: server.url, AdminListen: s.freeAdmin(),
	}
	settings, err := given.Parse()
	if err != nil {
		return errors.Join(err, server.ended(ctx))
	}
	n, err := node.New(settings)
	if err != nil {
		return errors.Join(err, server.ended(ctx))
	}
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()

	patience := time.NewTimer(grantPatience)
	defer patience.Stop()
	select {
	case <-n.Answering():
	case <-patience.C:
		fmt.Fprintf(out, "no IDs come from memory after %v, so calls go to PostgreSQL; the log says why\n",
			grantPatience)
	case err := <-ended:
		return errors.Join(err, server.ended(ctx))
	}
	if err := s.show(ctx, n, server, out); err != nil && ctx.Err() == nil {
		cancel()
		return errors.Join(err, <-ended)
	}
	err = waitTelling(ctx, ended, out)
	fmt.Fprintln(out, "\nended; the worker is given back")
	return errors.Join(err, server.ended(ctx))
}

// waitTelling waits for the proxy's end. It prints a line if open transactions delay that.
func waitTelling(ctx context.Context, ended <-chan error, out io.Writer) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	slow := time.NewTimer(endsAtOnce)
	defer slow.Stop()
	select {
	case err := <-ended:
		return err
	case <-slow.C:
		fmt.Fprintf(out, "\nwaiting up to %v for open transactions; Ctrl-C again ends at once\n", demoDrain)
	}
	return <-ended
}

// demoNode is the node name of a demo.
func demoNode() string {
	if name := hostname(); name != "" {
		return name + "-demo"
	}
	return "demo"
}

package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pgflurry/internal/config"
	"pgflurry/internal/node"
	"pgflurry/migrations"
)

// Settings are the flags of the command.
type Settings struct {
	Listen        string       // address for clients, as in serve
	Admin         string       // address for operators, as in serve; empty: none
	Usual         bool         // nobody has given Listen
	AnyAdmin      bool         // take another port if that one is in use
	Data          string       // data folder; empty: folder() decides
	Postgres      string       // URL of an existing server; empty: start a private one
	Bin           string       // folder of server binaries; empty: search for them
	Image         string       // Docker image; empty: binaries first
	Host, Version string       // of this machine, and of the program
	LinesLost     func() int64 // number of log lines that were dropped
}

// grantPatience is how long demo waits for its first worker. It waits only if the namespace is in quarantine.
const grantPatience = 30 * time.Second

// drain is how long open transactions may go on after Ctrl-C. If the end takes longer than endsAtOnce, demo says
// why.
const (
	drain      = 10 * time.Second
	endsAtOnce = 500 * time.Millisecond
)

// Run is the life of a demo, in order. It ends in the reverse order: sessions, worker, server.
func Run(ctx context.Context, s Settings, out io.Writer, log *slog.Logger) (err error) {
	if err := s.checkListen(); err != nil {
		return err
	}
	server, err := s.openServer(ctx, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()

	fmt.Fprintln(out, "installing pgflurry in its database")
	if err := migrations.Up(ctx, server.url, server.migration(s.Version)); err != nil {
		return err
	}
	ctx, cancel := server.while(ctx)
	defer cancel()
	if s.Usual && filepath.IsAbs(server.upstream) { // serve refuses TCP in front of a Unix socket
		folder, err := os.MkdirTemp("", "pgflurry-")
		if err != nil {
			return fmt.Errorf("no folder for a Unix socket of the demo: %w; name another place by TMPDIR", err)
		}
		defer os.RemoveAll(folder)
		s.Listen = filepath.Join(folder, ".s.PGSQL.6532")
	}
	fmt.Fprintln(out, "starting the proxy, and leasing a worker for it")
	return s.runNode(ctx, server, out, log)
}

// checkListen checks, before anything is created, that the address is free and that clients can reach it.
func (s Settings) checkListen() error {
	at, err := config.ParseAddress("listen", s.Listen)
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
func (s Settings) freeAdmin() string {
	if !s.AnyAdmin {
		return s.Admin
	}
	probe, err := net.Listen("tcp", s.Admin)
	if err != nil {
		return "127.0.0.1:0"
	}
	probe.Close()
	return s.Admin
}

// runNode runs the proxy until ctx ends. Meanwhile it draws the first IDs and prints them.
func (s Settings) runNode(ctx context.Context, server *server, out io.Writer, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	given := config.Given{
		Settings: config.Settings{
			Name:   strings.TrimPrefix(s.Host+"-demo", "-"),
			Window: 60 * time.Second, DrainTimeout: drain, Version: s.Version,
			Log: log, LinesLost: s.LinesLost,
		},
		Listen: s.Listen, Upstream: server.upstream, LeaseDatabase: server.url, AdminListen: s.freeAdmin(),
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
		fmt.Fprintf(out, "\nwaiting up to %v for open transactions; Ctrl-C again ends at once\n", drain)
	}
	return <-ended
}

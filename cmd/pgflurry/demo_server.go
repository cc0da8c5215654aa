package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/connstring"
	"pgflurry/postgres"
)

// demoServer is the PostgreSQL of a demo: a private cluster, which the demo stops,
// or the user's own, which it leaves alone.
type demoServer struct {
	url      string            // connection string of the database with the namespace
	upstream string            // the same server as a node takes it
	cluster  *postgres.Cluster // nil if it is the user's
}

// errServerEnded is the cause of a context that ended because the private server did.
var errServerEnded = errors.New("the private PostgreSQL ended by itself")

// stopPatience is how long the private server may take for an orderly end.
const stopPatience = 15 * time.Second

func (s demoSettings) openServer(ctx context.Context, out io.Writer) (*demoServer, error) {
	if s.postgres != "" {
		return useServer(ctx, s.postgres, out)
	}
	provider, err := postgres.Locate(ctx, s.bin, s.image)
	if err != nil {
		return nil, err
	}
	folder, err := s.folder()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s\ndata folder %s\n", provider, folder)
	name := "postgres"
	if provider.Docker.Image != "" {
		name = "docker" // its files belong to the image's user, and its layout is the image's
	}
	cluster, err := postgres.Start(ctx, postgres.Settings{
		Provider: provider, Data: filepath.Join(folder, name), Progress: func(what string) { fmt.Fprintln(out, what) },
	})
	if err != nil {
		return nil, err
	}
	return &demoServer{
		url: cluster.URL("postgres"), upstream: net.JoinHostPort("127.0.0.1", strconv.Itoa(cluster.Port)),
		cluster: cluster,
	}, nil
}

// useServer checks that the user's server can be reached, and says what the demo does to it.
func useServer(ctx context.Context, url string, out io.Writer) (*demoServer, error) {
	config, err := connstring.Parse("postgres", url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, connstring.Explain(err)
	}
	defer conn.Close(ctx)
	upstream := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	if filepath.IsAbs(config.Host) {
		upstream = filepath.Join(config.Host, ".s.PGSQL."+strconv.Itoa(int(config.Port)))
	}
	fmt.Fprintf(out, "using database %q on %s: schema pgflurry and its functions are made there, and stay\n"+
		"(to remove them: pgflurry migrate down --database URL)\n", database(config), upstream)
	return &demoServer{url: url, upstream: upstream}, nil
}

// database is the name of the database that a connection string leads to.
func database(config *pgx.ConnConfig) string {
	if config.Database == "" {
		return config.User // as PostgreSQL itself takes it
	}
	return config.Database
}

// folder is --data, or pgflurry-data in the working directory. PostgreSQL refuses root, and the user it runs as instead
// cannot pass through a closed home folder; there, unless --data insists, root's own place for data is taken.
func (s demoSettings) folder() (string, error) {
	folder := s.data
	if folder == "" {
		folder = "pgflurry-data"
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("--data: %w", err)
	}
	_, impassable := errors.AsType[*postgres.ImpassableError](postgres.Passable(filepath.Join(folder, "postgres")))
	if impassable && s.data == "" {
		return "/var/lib/pgflurry-data", nil
	}
	return folder, nil
}

// while is ctx, but ends when the private server does.
func (d *demoServer) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if d.cluster != nil {
		go func() {
			select {
			case <-d.cluster.Done():
				cancel(errServerEnded)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// ended is an error if ctx ended because the server did.
func (d *demoServer) ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errServerEnded) {
		return fmt.Errorf("%w; %s tells why", cause, d.cluster.Log)
	}
	return nil
}

// stop ends the private server, and needs no context: it is how a demo that was interrupted ends.
func (d *demoServer) stop() error {
	if d.cluster == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if err := d.cluster.Stop(ctx); err != nil {
		return fmt.Errorf("the private PostgreSQL on %s: %w", d.cluster.Data, err)
	}
	return nil
}

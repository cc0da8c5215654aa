package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/postgres"
	"pgflurry/migrations"
)

// server is the PostgreSQL of a demo. The demo stops a private cluster, and leaves the user's own server alone.
type server struct {
	url      string            // connection string of the database with the namespace
	upstream string            // address of the same server, for the node
	cluster  *postgres.Cluster // nil for the user's own server
}

// errServerEnded is the cause of a cancelled context when the private server has ended by itself.
var errServerEnded = errors.New("the private PostgreSQL ended by itself")

// stopPatience is how long the private server may take to shut down.
const stopPatience = 15 * time.Second

func (s Settings) openServer(ctx context.Context, out io.Writer) (*server, error) {
	if s.Postgres != "" {
		return useServer(ctx, s.Postgres, out)
	}
	provider, err := postgres.Locate(ctx, s.Bin, s.Image)
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
		name = "docker" // the image decides the owner and the layout of its data folder
	}
	kept := filepath.Join(folder, name+".port")
	cluster, err := postgres.Start(ctx, postgres.Settings{
		Provider: provider, Data: filepath.Join(folder, name), Port: keptPort(kept),
		Progress: func(what string) { fmt.Fprintln(out, what) },
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(kept, []byte(strconv.Itoa(cluster.Port)), 0o644); err != nil {
		fmt.Fprintf(out, "the next demo may warn of a copy, because the port cannot be kept: %v\n", err)
	}
	return &server{
		url: cluster.URL("postgres"), upstream: net.JoinHostPort("127.0.0.1", strconv.Itoa(cluster.Port)),
		cluster: cluster,
	}, nil
}

// keptPort is the port of the last demo, if it is free; 0: any. On another port the server would look like a copy
// beside its original, and the demo would warn of that.
func keptPort(path string) int {
	text, _ := os.ReadFile(path)
	port, _ := strconv.Atoi(string(text))
	if _, err := postgres.FreePort(port); err != nil {
		return 0
	}
	return port
}

// migration says what to make there. A private server never forgets a write: nobody copies it or restores it. So the
// next demo need not wait for its worker.
func (d *server) migration(version string) migrations.Settings {
	s := migrations.Settings{Version: version}
	if d.cluster != nil {
		s.RestartQuarantine = new(time.Duration)
	}
	return s
}

// useServer checks that the user's server can be reached. It prints what the demo will do there.
func useServer(ctx context.Context, url string, out io.Writer) (*server, error) {
	config, err := connect.Parse("postgres", url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := connect.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	upstream := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	if filepath.IsAbs(config.Host) {
		upstream = filepath.Join(config.Host, ".s.PGSQL."+strconv.Itoa(int(config.Port)))
	}
	fmt.Fprintf(out, "using database %q on %s: schema pgflurry and its functions are made there, and stay\n"+
		"(to remove them: pgflurry migrate down --database URL)\n", cmp.Or(config.Database, config.User), upstream)
	return &server{url: url, upstream: upstream}, nil
}

// folder is --data, or by default pgflurry-data in the working directory. As root the server runs as another user, who
// often cannot enter the working directory. Then the default is /var/lib/pgflurry-data.
func (s Settings) folder() (string, error) {
	folder := s.Data
	if folder == "" {
		folder = "pgflurry-data"
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("--data: %w", err)
	}
	_, impassable := errors.AsType[*postgres.ImpassableError](postgres.Passable(filepath.Join(folder, "postgres")))
	if impassable && s.Data == "" {
		return "/var/lib/pgflurry-data", nil
	}
	return folder, nil
}

// while derives a context from ctx that also ends when the private server ends.
func (d *server) while(ctx context.Context) (context.Context, context.CancelFunc) {
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

// ended is an error if ctx ended because the server ended.
func (d *server) ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errServerEnded) {
		return fmt.Errorf("%w; %s says why", cause, d.cluster.Log)
	}
	return nil
}

// stop shuts the private server down. It takes no context, because it also runs after an interrupt.
func (d *server) stop() error {
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

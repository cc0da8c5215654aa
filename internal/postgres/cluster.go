package postgres

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
)

// Settings of a cluster.
type Settings struct {
	Provider                   // what runs the server, see Locate; required
	Data     string            // data folder; created if absent, reused if it holds a cluster. Required
	Log      string            // file that the server's log is appended to; default Data + ".log"
	Port     int               // TCP port on 127.0.0.1; 0: a free one
	User     string            // superuser; default "postgres". Only for a new data folder
	Password string            // of User; default none. Only for a new data folder
	HBA      string            // contents of pg_hba.conf; default: trust on loopback and on the Unix socket
	Options  map[string]string // server settings by name, such as "fsync": "off"; they win over the data folder's
	Progress func(string)      // called with what takes long, in words for people; default: not called
}

// Provider runs a server. Exactly one field is set.
type Provider struct {
	Binaries Binaries
	Docker   Docker
}

// trustLoopback lets in everybody on this machine, and nobody else.
const trustLoopback = `local all all trust
host all all 127.0.0.1/32 trust
host all all ::1/128 trust
local replication all trust
host replication all 127.0.0.1/32 trust
`

// Cluster is a running private server. Its methods are safe for concurrent use.
type Cluster struct {
	Port      int    // on 127.0.0.1
	SocketDir string // folder of the Unix socket; empty for Docker outside Linux
	Data      string
	Log       string
	PID       int // of the postmaster; 0 for Docker outside Linux

	user, password string
	runner         runner
}

// runner hides the difference between a process and a container.
type runner interface {
	done() <-chan struct{}          // closed when the server has ended
	stop(ctx context.Context) error // fast, then immediate; idempotent
}

// Start runs a private cluster and returns when it accepts connections. ctx limits the start only. The caller owns the
// cluster and has to call Stop. Errors are for people and include the end of the server's log.
func Start(ctx context.Context, settings Settings) (*Cluster, error) {
	if settings.Data == "" {
		return nil, fmt.Errorf("no data folder is named for the private PostgreSQL")
	}
	if err := checkSystem(); err != nil {
		return nil, err
	}
	settings = settings.withDefaults()
	if settings.Docker.Image != "" {
		return startContainer(ctx, settings)
	}
	return startProcess(ctx, settings)
}

func (s Settings) withDefaults() Settings {
	if s.Log == "" {
		s.Log = s.Data + ".log"
	}
	if s.User == "" {
		s.User = "postgres"
	}
	if s.HBA == "" {
		s.HBA = trustLoopback
	}
	if s.Progress == nil {
		s.Progress = func(string) {}
	}
	return s
}

// URL is a connection string for pgx, psql and every other client, over TCP.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme: "postgres", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)),
		Path: "/" + database, User: c.userinfo(), RawQuery: "sslmode=disable",
	}
	return u.String()
}

func (c *Cluster) userinfo() *url.Userinfo {
	if c.password == "" {
		return url.User(c.user)
	}
	return url.UserPassword(c.user, c.password)
}

// Done is closed when the server has ended, by Stop or by itself.
func (c *Cluster) Done() <-chan struct{} { return c.runner.done() }

// Stop ends the server with a fast shutdown. If ctx ends before, it uses an immediate one. It may be called more than
// once.
func (c *Cluster) Stop(ctx context.Context) error { return c.runner.stop(ctx) }

// logTail is the end of the log from offset on, at most about twenty lines, indented for an error message.
func logTail(path string, offset int64) string {
	content, err := os.ReadFile(path)
	if err != nil || int64(len(content)) <= offset {
		return "the server said nothing"
	}
	return "the server said:\n" + lastLines(string(content[offset:]), 20)
}

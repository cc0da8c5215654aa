package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// container is a server that runs in Docker.
type container struct {
	docker Docker
	id     string
	ended  chan struct{}
	once   sync.Once // guards failed
	failed error
}

func startContainer(ctx context.Context, s Settings) (*Cluster, error) {
	data, err := filepath.Abs(s.Data)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", s.Data, err)
	}
	s.Data = data
	if err := s.Docker.fetch(ctx, s.Progress); err != nil {
		return nil, err
	}
	if err := makeParents(s.Data); err != nil {
		return nil, err
	}
	unlock, err := lock(s.Data)
	if err != nil {
		return nil, err
	}
	c, port, err := s.Docker.launch(ctx, s, unlock)
	if err != nil {
		unlock()
		return nil, err
	}
	cluster := &Cluster{Port: port, Data: s.Data, Log: s.Log, user: s.User, password: s.Password, runner: c}
	err = c.ready(ctx, cluster.URL("postgres"))
	if err == nil && runtime.GOOS == "linux" { // other systems run containers in a virtual machine
		cluster.SocketDir = filepath.Join(s.Data, "sockets")
		cluster.PID, err = c.pid(ctx)
	}
	if err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("%s did not become ready: %w; %s", s.Provider, err, logTail(s.Log, 0)),
			c.stop(stopping))
	}
	return cluster, nil
}

// launch starts the container. After its end the container stays, for its log, until stop removes it. The name of the
// container follows from the data folder. So the next run finds one whose starter was killed: PostgreSQL itself cannot
// see a server in another container.
func (d Docker) launch(ctx context.Context, s Settings, unlock func()) (*container, int, error) {
	name := fmt.Sprintf("pgflurry-%08x", crc32.ChecksumIEEE([]byte(s.Data)))
	if _, err := d.run(ctx, "container", "inspect", name); err == nil {
		return nil, 0, fmt.Errorf("container %s of an earlier run still has data folder %s; "+
			"remove it with \"docker rm --force %s\", or name another folder", name, s.Data, name)
	}
	if err := mountable(s); err != nil {
		return nil, 0, err
	}
	port, err := FreePort(s.Port)
	if err != nil {
		return nil, 0, err
	}
	out, err := d.run(ctx, d.runArgs(s, name, port)...)
	if err != nil {
		// it is created but not started if the port was in use
		_, _ = d.run(context.WithoutCancel(ctx), "rm", "--force", name)
		return nil, 0, fmt.Errorf("Docker image %s does not start (%w); %s", d.Image, err, firstLine(out))
	}
	c := &container{docker: d, id: name, ended: make(chan struct{})}
	if err := c.follow(s.Log, unlock); err != nil {
		return nil, 0, errors.Join(err, c.remove())
	}
	return c, port, nil
}

// follow copies the container's output to the log until the container ends. Then it closes ended.
func (c *container) follow(path string, unlock func()) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the server's log cannot be written: %w", err)
	}
	defer log.Close() // the follower has its own descriptor
	follower := exec.Command(c.docker.CLI, "logs", "--follow", c.id)
	follower.SysProcAttr = attributes(account{})
	follower.Stdout, follower.Stderr = log, log
	if err := follower.Start(); err != nil {
		return fmt.Errorf("the container's log cannot be read: %w", err)
	}
	go func() {
		_ = follower.Wait() // only the end of the container matters
		unlock()
		close(c.ended)
	}()
	return nil
}

// mountable prepares the container's /pgflurry: the access rules and a folder for the socket. The image itself creates
// data.
func mountable(s Settings) error {
	// Docker would create it for root. The image's user must be able to enter it, whatever the umask.
	sockets := filepath.Join(s.Data, "sockets")
	if err := os.MkdirAll(sockets, 0o755); err != nil {
		return fmt.Errorf("the data folder cannot be made: %w", err)
	}
	// Connections through the port on this machine's loopback have another address inside the container.
	hba := strings.NewReplacer("127.0.0.1/32", "all", "::1/128", "all").Replace(s.HBA)
	err := errors.Join(os.Chmod(s.Data, 0o755), os.Chmod(sockets, 0o777),
		os.WriteFile(filepath.Join(s.Data, "pg_hba.conf"), []byte(hba), 0o644))
	if err != nil {
		return fmt.Errorf("the data folder belongs to another user, who ran this before: %w", err)
	}
	return nil
}

// runArgs uses the same port inside and outside, because the port is part of the socket's name.
func (d Docker) runArgs(s Settings, name string, port int) []string {
	number := strconv.Itoa(port)
	args := []string{
		"run", "--detach", "--name", name, "--shm-size", "256m", "--publish", "127.0.0.1:" + number + ":" + number,
		"--volume", s.Data + ":/pgflurry", "--env", "PGDATA=/pgflurry/data", "--env", "PGPORT=" + number, "--env",
		"POSTGRES_USER=" + s.User,
	}
	if s.Password != "" {
		args = append(args, "--env", "POSTGRES_PASSWORD="+s.Password)
	} else {
		// the image refuses to start without a password otherwise; the rules are ours
		args = append(args, "--env", "POSTGRES_HOST_AUTH_METHOD=trust")
	}
	if uid := os.Getuid(); uid != 0 {
		args = append(args, "--user", fmt.Sprintf("%d:%d", uid, os.Getgid()))
	}
	args = append(args, d.Image, "postgres")
	for _, option := range slices.Sorted(maps.Keys(s.Options)) {
		args = append(args, "-c", option+"="+s.Options[option])
	}
	// The image's own preparations use the first socket.
	return append(args, "-c", "hba_file=/pgflurry/pg_hba.conf",
		"-c", "unix_socket_directories=/var/run/postgresql,/pgflurry/sockets")
}

// pid is the process number of the postmaster outside the container.
func (c *container) pid(ctx context.Context) (int, error) {
	out, err := c.docker.run(ctx, "inspect", "--format", "{{.State.Pid}}", c.id)
	if err != nil {
		return 0, fmt.Errorf("container %s does not tell its process (%w); %s", c.id, err, firstLine(out))
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// ready tries to log in until that works. The image's first server only prepares the data folder and does not listen on
// TCP, although Docker accepts connections.
func (c *container) ready(ctx context.Context, url string) error {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		conn, err := pgx.Connect(attempt, url)
		if err == nil {
			err = errors.Join(conn.Ping(attempt), conn.Close(attempt))
		}
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-c.ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func (c *container) done() <-chan struct{} { return c.ended }

// stop sends the image's stop signal, which is PostgreSQL's fast shutdown, and removes the container.
func (c *container) stop(ctx context.Context) error {
	c.once.Do(func() {
		_, _ = c.docker.run(ctx, "stop", "--time", "30", c.id) // if this fails, the removal kills it
		c.failed = c.remove()
		if c.failed == nil {
			<-c.ended
		}
	})
	return c.failed
}

func (c *container) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if out, err := c.docker.run(ctx, "rm", "--force", "--volumes", c.id); err != nil {
		return fmt.Errorf("container %s cannot be removed (%w); %s", c.id, err, firstLine(out))
	}
	return nil
}

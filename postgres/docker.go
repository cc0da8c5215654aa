package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// DefaultImage is what runs where Docker answers and nothing else is named.
const DefaultImage = "postgres:17"

// Docker is a PostgreSQL image and the command line tool that runs it.
type Docker struct {
	CLI   string // path of the docker command
	Image string // such as "postgres:17"; it must behave like the official one
}

// Locate decides what runs the server: the binaries in dir, if dir is not empty; the image, if it is not empty; else the newest
// binaries on this machine; else DefaultImage where Docker answers. The error is a *NotFoundError, or says why the image cannot be had.
func Locate(ctx context.Context, dir, image string) (Provider, error) {
	if dir != "" && image != "" {
		return Provider{}, fmt.Errorf("both a folder of server binaries (%s) and a Docker image (%s) are named; only one can run", dir, image)
	}
	if image != "" {
		docker, err := findDocker(ctx, image)
		return Provider{Docker: docker}, err
	}
	binaries, err := Find(dir)
	if err == nil || dir != "" {
		return Provider{Binaries: binaries}, err
	}
	docker, dockerErr := findDocker(ctx, DefaultImage)
	if dockerErr == nil {
		return Provider{Docker: docker}, nil
	}
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		missing.Docker = dockerErr.Error()
	}
	return Provider{}, err
}

// String is for people.
func (p Provider) String() string {
	if p.Docker.Image != "" {
		return "Docker image " + p.Docker.Image
	}
	return p.Binaries.String()
}

// findDocker checks that a Docker server answers within 2 s.
func findDocker(ctx context.Context, image string) (Docker, error) {
	cli, err := exec.LookPath("docker")
	if err != nil {
		return Docker{}, errors.New("there is no docker command on PATH either")
	}
	docker := Docker{CLI: cli, Image: image}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if out, err := docker.run(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		return Docker{}, fmt.Errorf("Docker does not answer: %w %s", err, firstLine(out))
	}
	return docker, nil
}

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
	if err := c.ready(ctx, cluster.URL("postgres")); err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("%s did not become ready: %w; %s", s.Provider, err, logTail(s.Log, 0)), c.stop(stopping))
	}
	return cluster, nil
}

// fetch pulls the image if it is not here.
func (d Docker) fetch(ctx context.Context, progress func(string)) error {
	if _, err := d.run(ctx, "image", "inspect", d.Image); err == nil {
		return nil
	}
	progress("pulling Docker image " + d.Image)
	if out, err := d.run(ctx, "pull", d.Image); err != nil {
		return fmt.Errorf("Docker image %s is not here and cannot be pulled (%w); %s", d.Image, err, firstLine(out))
	}
	return nil
}

// launch starts the container. It stays after its end, for its log, until stop removes it. Its name is made of the data folder's,
// because a container outlives a starter that is killed, and PostgreSQL cannot see a server in another container on its data.
func (d Docker) launch(ctx context.Context, s Settings, unlock func()) (*container, int, error) {
	name := fmt.Sprintf("pgflurry-%08x", crc32.ChecksumIEEE([]byte(s.Data)))
	if _, err := d.run(ctx, "container", "inspect", name); err == nil {
		return nil, 0, fmt.Errorf("container %s of an earlier run still has data folder %s; remove it with \"docker rm --force %s\", or name another folder", name, s.Data, name)
	}
	// Made here, because Docker would make it root's. The server's own folder is below it; the image's user must pass through, whatever the umask.
	if err := os.Mkdir(s.Data, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, 0, fmt.Errorf("the data folder cannot be made: %w", err)
	}
	if err := os.Chmod(s.Data, 0o755); err != nil {
		return nil, 0, fmt.Errorf("the data folder belongs to another user: %w", err)
	}
	port, err := choosePort(s.Port)
	if err != nil {
		return nil, 0, err
	}
	out, err := d.run(ctx, d.runArgs(s, name, port)...)
	if err != nil {
		_, _ = d.run(context.WithoutCancel(ctx), "rm", "--force", name) // made, but not started, if the port was not free
		return nil, 0, fmt.Errorf("Docker image %s does not start (%w); %s", d.Image, err, firstLine(out))
	}
	c := &container{docker: d, id: name, ended: make(chan struct{})}
	if err := c.follow(s.Log, unlock); err != nil {
		return nil, 0, errors.Join(err, c.remove())
	}
	return c, port, nil
}

// follow copies what the server says to the log, which ends with the container, and then closes ended.
func (c *container) follow(path string, unlock func()) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the server's log cannot be written: %w", err)
	}
	defer log.Close() // the follower has its own copy
	follower := exec.Command(c.docker.CLI, "logs", "--follow", c.id)
	follower.SysProcAttr = attributes(account{})
	follower.Stdout, follower.Stderr = log, log
	if err := follower.Start(); err != nil {
		return fmt.Errorf("the container's log cannot be read: %w", err)
	}
	go func() {
		_ = follower.Wait() // the container's end is what matters
		unlock()
		close(c.ended)
	}()
	return nil
}

func (d Docker) runArgs(s Settings, name string, port int) []string {
	args := []string{
		"run", "--detach", "--name", name, "--shm-size", "256m", "--publish", "127.0.0.1:" + strconv.Itoa(port) + ":5432",
		"--volume", s.Data + ":/pgflurry", "--env", "PGDATA=/pgflurry/data", "--env", "POSTGRES_USER=" + s.User,
	}
	if s.Password != "" {
		args = append(args, "--env", "POSTGRES_PASSWORD="+s.Password)
	} else {
		args = append(args, "--env", "POSTGRES_HOST_AUTH_METHOD=trust")
	}
	if uid := os.Getuid(); uid != 0 {
		args = append(args, "--user", fmt.Sprintf("%d:%d", uid, os.Getgid()))
	}
	args = append(args, d.Image, "postgres")
	for name, value := range s.Options {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// ready logs in until it works: the image's first server, which only prepares the data folder, does not listen on TCP, though Docker does.
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
		_, _ = c.docker.run(ctx, "stop", "--time", "30", c.id) // what it did not stop, the removal kills
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

// run runs the docker command in a process group of its own, so that Ctrl-C does not cut it short, and returns all it said.
func (d Docker) run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, d.CLI, args...)
	command.SysProcAttr = attributes(account{})
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	return string(out), err
}

// firstLine of what a command said, for a sentence.
func firstLine(text string) string {
	lines := slices.Collect(strings.Lines(strings.TrimSpace(text)))
	if len(lines) == 0 {
		return "it said nothing"
	}
	return "it said: " + strings.TrimSpace(lines[0])
}

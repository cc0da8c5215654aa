package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

// startDocker runs the server in a container. Docker removes the container when it stops.
func startDocker() (stop func() error, err error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return nil, fmt.Errorf("PGFLURRY_TEST_DOCKER=1, but Docker cannot be reached: %w", err)
	}
	if err := pool.Client.Ping(); err != nil {
		return nil, fmt.Errorf("PGFLURRY_TEST_DOCKER=1, but Docker does not answer: %w", err)
	}
	pool.MaxWait = time.Minute
	container, err := pool.RunWithOptions(dockerOptions(), func(host *docker.HostConfig) { host.AutoRemove = true })
	if err != nil {
		return nil, fmt.Errorf("the container does not start: %w", err)
	}
	// If the tests are killed, they cannot stop it. Docker does so in the end.
	if err := container.Expire(uint((30 * time.Minute).Seconds())); err != nil {
		return nil, fmt.Errorf("the container gets no end: %w", err)
	}
	running.admin = fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", container.GetHostPort("5432/tcp"))
	stop = func() error { return pool.Purge(container) }
	err = pool.Retry(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return ping(ctx, running.admin)
	})
	if err != nil {
		_ = stop()
		return nil, fmt.Errorf("the container does not become ready: %w", err)
	}
	return stop, nil
}

func dockerOptions() *dockertest.RunOptions {
	name, tag, _ := strings.Cut(image(), ":")
	command := []string{"postgres"}
	for option, value := range testOptions() {
		command = append(command, "-c", option+"="+value)
	}
	return &dockertest.RunOptions{
		Repository: name, Tag: tag, Cmd: command, Env: []string{"POSTGRES_HOST_AUTH_METHOD=trust"},
		PortBindings: map[docker.Port][]docker.PortBinding{"5432/tcp": {{HostIP: "127.0.0.1", HostPort: "0"}}},
	}
}

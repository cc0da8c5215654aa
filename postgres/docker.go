package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// DefaultImage is what runs where Docker answers and nothing else is named.
const DefaultImage = "postgres:17"

// Docker is a PostgreSQL image and the command line tool that runs it.
type Docker struct {
	CLI   string // path of the docker command
	Image string // such as "postgres:17"; it must behave like the official one
}

// Locate decides what runs the server: the binaries in dir, if dir is not empty; the image, if it is not empty; else
// the newest binaries on this machine; else DefaultImage where Docker answers. The error has a hint, or says why the
// image cannot be had.
func Locate(ctx context.Context, dir, image string) (Provider, error) {
	if err := checkSystem(); err != nil {
		return Provider{}, err
	}
	if dir != "" && image != "" {
		return Provider{}, fmt.Errorf("both a folder of server binaries (%s) and a Docker image (%s) are named; "+
			"only one can run", dir, image)
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
	if missing, ok := errors.AsType[*notFoundError](err); ok {
		missing.docker = dockerErr.Error()
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

// run runs the docker command in a process group of its own, so that Ctrl-C does not cut it short,
// and returns all it said.
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

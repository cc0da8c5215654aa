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

// DefaultImage is the image if nothing is chosen and Docker answers.
const DefaultImage = "postgres:17"

// Docker is a PostgreSQL image and the command line tool that runs it.
type Docker struct {
	CLI   string // path of the docker command
	Image string // such as "postgres:17"; it must behave like the official one
}

// Locate decides what runs the server. It takes the first of these:
//
//   - the binaries in dir, if dir is not empty
//   - the image, if image is not empty
//   - the newest binaries on this machine
//   - DefaultImage, if Docker answers
//
// The error has a hint, or says why Docker cannot get the image.
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

// dockerPatience is how long a Docker server may take to say its version.
const dockerPatience = 2 * time.Second

// findDocker checks that a Docker server answers.
func findDocker(ctx context.Context, image string) (Docker, error) {
	cli, err := exec.LookPath("docker")
	if err != nil {
		return Docker{}, errors.New("there is no docker command on PATH either")
	}
	docker := Docker{CLI: cli, Image: image}
	ctx, cancel := context.WithTimeout(ctx, dockerPatience)
	defer cancel()
	out, err := docker.run(ctx, "version", "--format", "{{.Server.Version}}")
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Docker{}, fmt.Errorf("Docker does not answer within %v; is its service running?", dockerPatience)
	case err != nil:
		return Docker{}, fmt.Errorf("Docker does not answer (%w); %s", err, firstLine(out))
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

// run runs the docker command in a process group of its own, so that Ctrl-C does not interrupt it. It returns all
// output.
func (d Docker) run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, d.CLI, args...)
	command.SysProcAttr = attributes(account{})
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	return string(out), err
}

// firstLine is the first line of a command's output.
func firstLine(text string) string {
	lines := slices.Collect(strings.Lines(strings.TrimSpace(text)))
	if len(lines) == 0 {
		return "it said nothing"
	}
	return "it said: " + strings.TrimSpace(lines[0])
}

package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// A source is a clone of the tag, and what was made of it.
type source struct {
	asked
	clone   string    // what Git has; programs are built here
	at      time.Time // of the commit
	environ []string  // of all commands
	links   []dependency
	made    string // folder of programs and completion
}

// clone copies the tag. What the Go tool then builds in there has no file that is not committed.
func clone(ctx context.Context, a asked, work string) (*source, error) {
	s := &source{asked: a, clone: filepath.Join(work, "pgflurry"), made: filepath.Join(work, "made")}
	from, err := filepath.Abs(a.tree)
	if err != nil {
		return nil, err
	}
	cloned := exec.CommandContext(ctx, "git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth", "1",
		"--branch", a.version, "file://"+filepath.ToSlash(from), s.clone)
	if said, err := cloned.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git clone: %w\n%s", err, said)
	}
	s.tree = s.clone
	seconds, err := s.git(ctx, "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return nil, err
	}
	var unix int64
	if _, err := fmt.Sscan(seconds, &unix); err != nil {
		return nil, err
	}
	s.at = time.Unix(unix, 0).UTC()
	if s.environ, err = environment(ctx, unix); err != nil {
		return nil, err
	}
	return s, os.Mkdir(s.made, 0o755)
}

// environment is that of this process, without what would change a program. The Go tool finds everything in its caches.
func environment(ctx context.Context, epoch int64) ([]string, error) {
	names := []string{"GOMODCACHE", "GOCACHE", "GOPATH"}
	out, err := exec.CommandContext(ctx, "go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var environ []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GO") && !strings.HasPrefix(variable, "CGO_") {
			environ = append(environ, variable)
		}
	}
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") { // one a line
		environ = append(environ, names[i]+"="+value)
	}
	return append(environ, "GOENV=off", "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local",
		"CGO_ENABLED=0", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch), "LC_ALL=C.UTF-8"), nil
}

// command is a command in the clone.
func (s *source) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.clone, s.environ
	return cmd
}

// run runs a command in the clone, and shows what it said if it fails.
func (s *source) run(cmd *exec.Cmd) error {
	cmd.Dir, cmd.Env = s.clone, append(s.environ, cmd.Env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	return nil
}

// A program is what was built for one target.
type program struct {
	target
	path string
	info *debug.BuildInfo
}

// name is the file's name for users.
func (p program) name() string {
	if p.system == "windows" {
		return "pgflurry.exe"
	}
	return "pgflurry"
}

// buildAll builds the programs. It begins with one for this machine, which writes the completion.
func (s *source) buildAll(ctx context.Context, targets []target) ([]program, error) {
	here, err := s.build(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	if err := s.writeCompletion(ctx, here); err != nil {
		return nil, err
	}
	var programs []program
	for _, t := range targets {
		p, err := s.build(ctx, t)
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	s.links, err = linked(ctx, s.clone, s.environ, targets)
	return programs, err
}

func (s *source) build(ctx context.Context, t target) (program, error) {
	fmt.Println("building", t)
	p := program{target: t, path: filepath.Join(s.made, t.system+"_"+t.arch)}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", p.path,
		"./cmd/pgflurry")
	build.Env = []string{"GOOS=" + t.system, "GOARCH=" + t.arch}
	if err := s.run(build); err != nil {
		return p, err
	}
	info, err := buildinfo.ReadFile(p.path)
	if err != nil {
		return p, err
	}
	p.info = info
	for _, setting := range info.Settings {
		if setting.Key == "vcs.modified" && setting.Value == "false" && info.Main.Version == s.version {
			return p, nil
		}
	}
	return p, fmt.Errorf("%s does not say that it is %s without changes, but %s; "+
		"from v2 on the module's path ends in /v2", t, s.version, info.Main.Version)
}

// shells are those that the packages have completion for.
var shells = []string{"bash", "zsh", "fish"}

// writeCompletion writes the completion for shells.
func (s *source) writeCompletion(ctx context.Context, here program) error {
	err := os.Mkdir(filepath.Join(s.made, "completion"), 0o755)
	for _, shell := range shells {
		out, failed := s.command(ctx, here.path, "completion", shell).Output()
		err = errors.Join(err, failed, os.WriteFile(s.completion(shell), out, 0o644))
	}
	return err
}

func (s *source) completion(shell string) string {
	return filepath.Join(s.made, "completion", "pgflurry."+shell)
}

// placeholder stands for the address of docs/ in the sources.
const placeholder = "https://pgflurry.example/docs"

// writeTexts puts the decisions of people into the clone: the licence, and the address of the runbooks.
func (s *source) writeTexts(_ context.Context, docs string) error {
	licence, err := os.ReadFile(s.licence)
	if err != nil {
		return err
	}
	alerts := filepath.Join(s.clone, "deploy", "prometheus", "alerts.yaml")
	text, err := os.ReadFile(alerts)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(placeholder)) {
		return fmt.Errorf("%s has no %s, which is the place of the address of docs/", alerts, placeholder)
	}
	text = bytes.ReplaceAll(text, []byte(placeholder), []byte(strings.TrimSuffix(docs, "/")))
	return errors.Join(os.WriteFile(alerts, text, 0o644),
		os.WriteFile(filepath.Join(s.clone, "LICENSE"), licence, 0o644))
}

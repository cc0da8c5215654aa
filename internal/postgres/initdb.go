package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// prepare creates the data folder, or checks it if it exists.
func prepare(ctx context.Context, s Settings, who account) error {
	for _, path := range []string{s.Data, filepath.Join(s.Binaries.Dir, "postgres")} {
		if err := who.passable(path); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(s.Data)
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("data folder %s belongs to another user, who ran this before: %w", s.Data, err)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the data folder cannot be read: %w", err)
	case len(entries) == 0:
		return create(ctx, s, who)
	}
	return checkVersion(s)
}

// makeParents creates the folders above the data folder. Everybody may enter them, whatever the umask.
func makeParents(data string) error {
	var missing []string
	for dir := filepath.Dir(data); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
	}
	if err := os.MkdirAll(filepath.Dir(data), 0o755); err != nil {
		return fmt.Errorf("the folder for the data cannot be made: %w", err)
	}
	for _, dir := range missing {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// create runs initdb in a folder beside it and renames the result. So an interrupted run leaves no half-made cluster.
func create(ctx context.Context, s Settings, who account) error {
	s.Progress("making a PostgreSQL " + s.Binaries.Version + " cluster in " + s.Data + "; that takes some seconds")
	half := s.Data + ".new"
	// We hold the lock of the data folder, so a folder of this name is from a dead run.
	if err := os.RemoveAll(half); err != nil {
		return fmt.Errorf("an interrupted run left %s, which cannot be removed: %w", half, err)
	}
	if err := os.Mkdir(half, 0o700); err != nil {
		return fmt.Errorf("the data folder cannot be made: %w", err)
	}
	if err := who.give(half); err != nil {
		return fmt.Errorf("the data folder cannot be given to user %s: %w", who.name, err)
	}
	err := initdb(ctx, s, who, half)
	if err == nil {
		err = os.Remove(s.Data)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(half, s.Data)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return nil
}

func initdb(ctx context.Context, s Settings, who account, dir string) error {
	args := []string{"-D", dir, "-U", s.User, "--encoding=UTF8", "--locale=C", "--auth=trust"}
	if s.Options["fsync"] == "off" {
		args = append(args, "--no-sync")
	}
	if s.Password != "" {
		// initdb reads it as the server's user, so it cannot be a pipe of root's.
		file := dir + ".password"
		defer os.Remove(file)
		if err := errors.Join(os.WriteFile(file, []byte(s.Password+"\n"), 0o600), who.give(file)); err != nil {
			return fmt.Errorf("the superuser's password cannot be handed to initdb: %w", err)
		}
		args = append(args, "--pwfile="+file)
	}
	command := exec.CommandContext(ctx, s.Binaries.path("initdb"), args...)
	command.Dir = "/"
	command.Env = environment()
	command.SysProcAttr = attributes(who)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("initdb was interrupted: %w", context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("initdb of %s failed (%w); it said:\n%s", s.Binaries, err, lastLines(string(out), 20))
	}
	return nil
}

// checkVersion compares the data folder's major version with the server's.
func checkVersion(s Settings) error {
	content, err := os.ReadFile(filepath.Join(s.Data, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("folder %s is not empty and holds no PostgreSQL cluster; "+
			"name another data folder, or an empty one", s.Data)
	}
	if err != nil {
		return fmt.Errorf("the data folder cannot be read: %w", err)
	}
	made := strings.TrimSpace(string(content))
	if made != strconv.Itoa(s.Binaries.Major) {
		return fmt.Errorf("data folder %s was made by PostgreSQL %s, but the server found is %s; "+
			"name the binaries of version %s, or another data folder",
			s.Data, made, s.Binaries, made)
	}
	return nil
}

// environment is this process's, without variables that would change the server or the language of its messages.
func environment() []string {
	env := []string{"LC_ALL=C"}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" ||
			name == "NOTIFY_SOCKET" {
			continue
		}
		env = append(env, pair)
	}
	return env
}

// lastLines are the last n lines of text, each indented.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "    " + strings.Join(lines, "\n    ")
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// oldestMajor is the oldest major version of PostgreSQL that pgflurry supports.
const oldestMajor = 15

// Binaries is one installation of the PostgreSQL server.
type Binaries struct {
	Dir     string // folder with postgres and initdb
	Version string // as the server prints it, such as "17.4" or "18beta1"
	Major   int    // first number of Version
}

// packaged are folders outside PATH where packages install server binaries.
var packaged = []string{
	"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                   // RPMs of postgresql.org
	"/usr/lib/postgresql*/bin",                           // SUSE, Gentoo
	"/usr/libexec/postgresql*",                           // Alpine
	"/usr/local/pgsql/bin",                               // built from source
	"/opt/homebrew/opt/postgresql*/bin",                  // Homebrew, Apple silicon
	"/usr/local/opt/postgresql*/bin",                     // Homebrew, Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",     // Homebrew, Linux
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	"/Library/PostgreSQL/*/bin",                          // EDB installer
	"/opt/local/lib/postgresql*/bin", "/opt/pgsql*/bin",  // MacPorts, by hand
	"/nix/var/nix/profiles/default/bin", "/usr/bin", // Nix, Fedora's own
}

// Find returns the newest PostgreSQL server of version 15 or newer. If dir is not empty, it looks only in dir and
// dir/bin. Otherwise it looks on PATH and in the folders of packages. The error has a hint. Find runs "postgres
// --version" of each server, and nothing else.
func Find(dir string) (Binaries, error) {
	var places []string
	if dir != "" {
		places = []string{dir, filepath.Join(dir, "bin")}
	} else {
		places = append(filepath.SplitList(os.Getenv("PATH")), packaged...)
	}
	return findIn(places, dir != "")
}

func findIn(places []string, named bool) (Binaries, error) {
	missing := &notFoundError{looked: places}
	if !named { // PATH is one place for people, not thirty
		missing.looked = append([]string{"PATH"}, packaged...)
	}
	var best Binaries
	for _, dir := range folders(places) {
		found, err := inspect(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			missing.unusable = append(missing.unusable, err.Error())
		case found.Major < oldestMajor:
			missing.unusable = append(missing.unusable,
				fmt.Sprintf("%s holds PostgreSQL %s, which is older than %d", dir, found.Version, oldestMajor))
		case found.Major > best.Major:
			best = found
		}
	}
	if best.Dir == "" {
		return Binaries{}, missing
	}
	return best, nil
}

// folders expands patterns and symbolic links, in order, and returns each real folder once.
func folders(places []string) []string {
	var real []string
	seen := map[string]bool{}
	for _, place := range places {
		matches, err := filepath.Glob(filepath.Join(place, "postgres"))
		if err != nil {
			matches = []string{filepath.Join(place, "postgres")}
		}
		for _, server := range matches {
			// A link such as /usr/local/bin/postgres leads to the folder with initdb and the server's libraries.
			target, err := filepath.EvalSymlinks(server)
			if err != nil {
				continue
			}
			dir, err := filepath.Abs(filepath.Dir(target))
			if err != nil || seen[dir] {
				continue
			}
			seen[dir] = true
			real = append(real, dir)
		}
	}
	return real
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[^\s]*)`)

// inspect asks the server in dir for its version. os.ErrNotExist: there is no server.
func inspect(dir string) (Binaries, error) {
	server := filepath.Join(dir, "postgres")
	if info, err := os.Stat(server); err != nil || info.IsDir() {
		return Binaries{}, os.ErrNotExist
	}
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return Binaries{}, fmt.Errorf("%s holds postgres but no initdb", dir)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, server, "--version").Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("%s does not run: %w", server, err)
	}
	match := versionLine.FindStringSubmatch(string(out))
	if match == nil {
		return Binaries{}, fmt.Errorf("%s --version says %q, which is no version of PostgreSQL",
			server, strings.TrimSpace(string(out)))
	}
	major, err := strconv.Atoi(match[2])
	if err != nil {
		return Binaries{}, fmt.Errorf("%s has version %q: %w", server, match[1], err)
	}
	return Binaries{Dir: dir, Version: match[1], Major: major}, nil
}

func (b Binaries) path(program string) string { return filepath.Join(b.Dir, program) }

// String is for people: "PostgreSQL 17.4 in /usr/lib/postgresql/17/bin".
func (b Binaries) String() string { return fmt.Sprintf("PostgreSQL %s in %s", b.Version, b.Dir) }

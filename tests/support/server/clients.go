package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgflurry/internal/postgres"
)

// clientsFor puts psql and pgbench on PATH if the server's binaries are in an image. It runs them in that image, on
// this machine's network, with the same paths below the folder of temporary files. The returned function removes them
// from PATH.
func clientsFor(provider postgres.Provider) (undo func(), err error) {
	if provider.Docker.Image == "" {
		return func() {}, nil
	}
	dir, err := Folder("")
	if err != nil {
		return nil, err
	}
	before := os.Getenv("PATH")
	undo = func() { os.Setenv("PATH", before) }
	for _, client := range []string{"psql", "pgbench"} {
		script := fmt.Sprintf("#!/bin/sh\nexec %s run --rm --interactive --network host --volume "+
			"%s:%s --workdir / --entrypoint %s %s \"$@\"\n",
			provider.Docker.CLI, os.TempDir(), os.TempDir(), client, provider.Docker.Image)
		if err := os.WriteFile(filepath.Join(dir, client), []byte(script), 0o755); err != nil {
			return nil, err
		}
	}
	return undo, os.Setenv("PATH", dir+string(filepath.ListSeparator)+before)
}

// Tool finds a client program beside the server's programs, or on the machine: some packages of PostgreSQL have only
// the server. If the machine's program is older than the server and would refuse it, the test is skipped.
func Tool(t testing.TB, name string) string {
	t.Helper()
	own := Binaries(t)
	if _, err := os.Stat(filepath.Join(own.Dir, name)); err == nil {
		return filepath.Join(own.Dir, name)
	}
	newest, err := postgres.Find("")
	if err != nil {
		t.Fatalf("%s is not beside the server's programs, nor elsewhere: %v", name, err)
	}
	if newest.Major < own.Major &&
		slices.Contains([]string{"pg_basebackup", "pg_dump", "pg_receivewal", "pg_upgrade"}, name) {
		t.Skipf("%s of PostgreSQL %d refuses a server of version %d", name, newest.Major, own.Major)
	}
	return filepath.Join(newest.Dir, name)
}

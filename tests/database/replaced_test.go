//go:build full

package database

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// relocated copies the programs and libraries of PostgreSQL, so that a test may replace them. PostgreSQL finds its
// libraries from where its program is.
func relocated(t *testing.T) (binaries postgres.Binaries, libraries string) {
	t.Helper()
	asked := server.Connect(t, server.Database(t))
	place := func(name string) string {
		return value[string](t, asked, "SELECT setting FROM pg_config WHERE name = $1", name)
	}
	root := server.PublicDir(t)
	for _, dir := range []string{place("BINDIR"), place("PKGLIBDIR")} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	// Some builds look there for other libraries, from where the program is. PKGLIBDIR may be a folder in it.
	others := place("LIBDIR")
	entries, err := os.ReadDir(others)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, others), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		path := filepath.Join(others, entry.Name())
		if err := os.Symlink(path, filepath.Join(root, path)); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	share := place("SHAREDIR")
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(share)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(share, filepath.Join(root, share)); err != nil {
		t.Fatal(err)
	}
	binaries, err = postgres.Find(filepath.Join(root, place("BINDIR")))
	if err != nil {
		t.Fatal(err)
	}
	return binaries, filepath.Join(root, place("PKGLIBDIR"))
}

// A package of a minor version replaces plpgsql.so under a running server.
func TestWhileTheLibraryOfPLpgSQLIsReplacedOnlyNewSessionsFailAndNoIDComesTwice(t *testing.T) {
	t.Parallel()
	server.Binaries(t) // skips where PostgreSQL runs in Docker
	binaries, libraries := relocated(t)
	original := server.Private(t, nil)
	data := original.Data
	server.Stop(t, original)
	cluster := server.AgainWith(t, binaries, data)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	const draw = "SELECT next_snowflake()"
	old, idle := server.Connect(t, url), server.Connect(t, url)
	run(t, idle, "SELECT 1")
	ids := []int64{value[int64](t, old, draw)}

	library := filepath.Join(libraries, "plpgsql.so")
	content, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	install := func() { // as a package manager does: a new file takes the name
		if err := os.WriteFile(library+".new", content, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(library+".new", library); err != nil {
			t.Fatal(err)
		}
	}
	install()
	ids = append(ids, value[int64](t, old, draw), value[int64](t, server.Connect(t, url), draw))

	if err := os.Remove(library); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, value[int64](t, old, draw))
	refused(t, idle, "58P01", draw)
	refused(t, server.Connect(t, url), "58P01", draw)
	install()
	ids = append(ids, value[int64](t, old, draw), value[int64](t, idle, draw))
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("IDs that do not increase: %d", ids)
	}
}

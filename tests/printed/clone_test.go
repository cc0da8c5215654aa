//go:build full

package printed

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

var clones atomic.Int32

// clone makes a copy of the template for one test. admin is connected to database postgres.
func clone(t *testing.T, admin *pgx.Conn) (name string) {
	t.Helper()
	name = fmt.Sprintf("shop_%d_%d", os.Getpid(), clones.Add(1))
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE shop_template"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)") })
	return name
}

func TestThePagesCloneForGoGivesParallelTestsADatabaseEach(t *testing.T) {
	t.Parallel()
	quoted(t, "go", "clone_test.go")
	r := newReader(t)
	r.run(template(t))
	t.Run("at once", func(t *testing.T) {
		for range 4 {
			t.Run("clone", func(t *testing.T) {
				t.Parallel()
				name := clone(t, server.Connect(t, r.url("postgres")))
				server.Exec(t, r.url(name), "INSERT INTO item (name) SELECT 'tea' FROM generate_series(1, 1000)")
			})
		}
	})
	admin := server.Connect(t, r.url("postgres"))
	const left = "SELECT coalesce(string_agg(datname, ' '), '') FROM pg_database WHERE datname LIKE 'shop\\_%\\_%'"
	if names := server.Value[string](t, admin, left); names != "" {
		t.Errorf("%s are left behind", names)
	}
}

// quoted checks that a file, which a test runs, contains the page's blocks in a language.
func quoted(t *testing.T, language, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, block := range deeds.Blocks(t, pagePath, language) {
		found = found || strings.Contains(string(text), block)
	}
	if !found {
		t.Errorf("no block of %s on the page stands in %s", language, file)
	}
}

// Package otherids_test proves, on a real PostgreSQL, what the other ways to make an ID promise. No committed draws are
// equal, bad input does what it should, and a role needs nothing but EXECUTE and can damage nothing.
package otherids_test

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { program.Main(m) }

// allNames asks for short names in public.
var allNames = migrations.Settings{Functions: sqlfuncs.All}

// withAllNames is a database whose functions all have a name in public.
func withAllNames(t testing.TB) string {
	t.Helper()
	return server.MigratedWith(t, allNames)
}

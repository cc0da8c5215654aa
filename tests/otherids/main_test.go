// Package otherids_test proves on a real PostgreSQL what the other ways to make an ID promise. Committed draws differ,
// and bad input fails as documented. A role needs only EXECUTE, and can damage nothing.
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

// withAllNames makes a database that has a short name in public for every function.
func withAllNames(t testing.TB) string {
	t.Helper()
	return server.MigratedWith(t, allNames)
}

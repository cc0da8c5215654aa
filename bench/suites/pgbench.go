package suites

import (
	"context"
	"embed"

	"pgflurry/bench/driver"
)

// scripts do something else than draw once. Draws are in sources.
//
//go:embed pgbench/*.sql
var scripts embed.FS

// NewPgbench finds pgbench in a folder of PostgreSQL's programs or on PATH. It writes the scripts of the suites into
// folder.
func NewPgbench(ctx context.Context, binaries, folder string) (*driver.Pgbench, error) {
	return driver.NewPgbench(ctx, binaries, folder, scripts, sources)
}

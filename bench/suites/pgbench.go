package suites

import (
	"context"
	"embed"

	"pgflurry/bench/driver"
)

// scripts are those that do something else than draw once: draws are in sources.
//
//go:embed pgbench/*.sql
var scripts embed.FS

// NewPgbench finds pgbench in a folder of PostgreSQL's programs or on PATH,
// and lays out the scripts of the suites in folder.
func NewPgbench(ctx context.Context, binaries, folder string) (*driver.Pgbench, error) {
	return driver.NewPgbench(ctx, binaries, folder, scripts, sources)
}

package admin

import (
	"context"

	"pgflurry/internal/report"
)

// A Node is the source of everything that admin shows. Its methods are safe for concurrent use.
type Node interface {
	// State is what the node knows now. It comes from memory and waits for nobody.
	State() report.State
	// Decode decodes an ID as a person typed it. An error says why it cannot be an ID of this namespace.
	Decode(id string) (report.Decoded, error)
	// History is who had a worker, the latest first. It asks the lease database and takes no longer than ctx.
	History(ctx context.Context, worker int) ([]report.Tenure, error)
}

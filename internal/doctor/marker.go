package doctor

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
)

// A Before is what "doctor --before" keeps: the facts, and the value of the marker.
type Before struct {
	Facts  Facts  `json:"facts"`
	Marker int64  `json:"marker"` // 0: it could not be made
	Why    string `json:"why,omitempty"`
}

// Mark makes the marker, an unlogged sequence with a random value, and returns what to keep.
func Mark(ctx context.Context, conn *pgx.Conn, f Facts) Before {
	value := 1_000_000 + rand.Int64N(1<<40)
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql.MakeMarker)
		return err
	})
	if err != nil {
		return Before{Facts: f, Why: reason(err)}
	}
	if _, err := conn.Exec(ctx, sql.SetMarker, value); err != nil {
		return Before{Facts: f, Why: reason(err)}
	}
	return Before{Facts: f, Marker: value}
}

// A Found is what has become of the marker.
type Found struct {
	Kept, StartedOver, Gone bool
	Why                     string // why it is not known
}

// Find reads the marker.
func Find(ctx context.Context, conn *pgx.Conn, b Before) Found {
	var value int64
	var called bool
	if b.Marker == 0 {
		return Found{Why: "no marker was made: " + b.Why}
	}
	switch err := conn.QueryRow(ctx, sql.Marker).Scan(&value, &called); {
	case code(err) == "42P01":
		return Found{Gone: true}
	case err != nil:
		return Found{Why: reason(err)}
	case value == b.Marker:
		return Found{Kept: true}
	case !called:
		return Found{StartedOver: true}
	}
	return Found{Why: fmt.Sprintf("it holds %d, which nobody here has written", value)}
}

// Unmark drops the marker.
func Unmark(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, sql.DropMarker); err != nil {
		return fmt.Errorf("dropping the marker public.pgflurry_doctor: %w", err)
	}
	return nil
}

package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgflurry/hint"
)

// exclude makes the session one in which a run can work: alone for its table, with a limit on each wait for a lock. A
// pooler may give the session to others, with the lock and the limit, so it is refused.
func (f *Facts) exclude(ctx context.Context, conn *pgx.Conn) error {
	var backend uint32
	if err := conn.QueryRow(ctx, sql.Backend).Scan(&backend); err != nil {
		return fmt.Errorf("asking for the session: %w", err)
	}
	if backend != conn.PgConn().PID() {
		return hint.With(errors.New("a pooler stands between, and may give the session to other clients"),
			"Connect to PostgreSQL itself, or through pgflurry. --print works through any pooler.")
	}
	if _, err := conn.Exec(ctx, sql.Session, fmt.Sprintf("%dms", f.settings.Patience.Milliseconds())); err != nil {
		return fmt.Errorf("setting up the session: %w", err)
	}
	var alone bool
	if err := conn.QueryRow(ctx, sql.Exclude, f.oid).Scan(&alone); err != nil {
		return fmt.Errorf("excluding other runs: %w", err)
	}
	if !alone {
		return hint.With(fmt.Errorf("another run of this command works on %s", f.shown(f.name)),
			"Wait until it has ended. pg_locks shows its session: locktype is advisory.")
	}
	return nil
}

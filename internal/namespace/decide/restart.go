package decide

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/session"
)

// RestartAsWindows is the quarantine after a restart that follows from the windows: max_window and twice the skew. Then
// everything is over that the server can have forgotten.
const RestartAsWindows time.Duration = -1

// longestRestart is the longest quarantine after a restart: that of the column's constraint.
const longestRestart = 366 * 24 * time.Hour

func mayWaitAfterRestart(d time.Duration) bool {
	return d == RestartAsWindows || d >= 0 && d <= longestRestart && d%time.Millisecond == 0
}

// SetRestart sets how long this home grants no worker after a start of its server.
func SetRestart(ctx context.Context, d *session.Database, quarantine time.Duration) error {
	var micros *int64
	if quarantine != RestartAsWindows {
		wanted := quarantine.Microseconds()
		micros = &wanted
	}
	tag, err := d.Conn.Exec(ctx, sql.RestartQuarantine, micros)
	if err != nil {
		return session.Failed("setting the quarantine after a restart", err)
	}
	if tag.RowsAffected() == 0 {
		return session.Refuse("Run it with the URL of the home.",
			"--restart-quarantine is the namespace's, and database %q has joined one", d.Facts.Database)
	}
	return nil
}

// ReadRestart reads what a start of the server costs: the quarantine after it, and how much of that is left now.
func ReadRestart(ctx context.Context, conn *pgx.Conn, now time.Time) (quarantine, left time.Duration, err error) {
	var micros int64
	var settled *time.Time
	if err := conn.QueryRow(ctx, sql.Restart).Scan(&micros, &settled); err != nil {
		return 0, 0, session.Failed("reading the quarantine after a restart", err)
	}
	if settled != nil {
		left = max(0, settled.Sub(now))
	}
	return time.Duration(micros) * time.Microsecond, left, nil
}

package watch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

const (
	// mendEvery is the pause between two checks of unreadable sequences.
	mendEvery = 10 * time.Second
	// mayNotMend is the pause after a refusal. Each refusal is a line in the server's log.
	mayNotMend = 10 * time.Minute
)

// A mender recreates sequences of the function that a failover has made unreadable. If that fails, the look still
// counts and the permission stands. A later look tries again. It also tells of guards that do not hold.
type mender struct {
	found *reminders
	due   time.Duration // when to check again
}

// mend checks, if that is due. Only some looks check, because it doubles their cost.
func (m *mender) mend(ctx context.Context, conn *pgx.Conn) {
	now := m.found.now()
	if now < m.due {
		return
	}
	m.due = now + mendEvery
	if weak, err := namespace.WeakGuards(ctx, conn); err == nil {
		m.found.reportGuards(weak)
	}
	switch names, err := namespace.MendSequences(ctx, conn); {
	case errors.Is(ctx.Err(), context.Canceled): // the process ends
	case errors.Is(err, namespace.ErrMayNotMend):
		m.due = now + mayNotMend
	case err != nil:
		m.found.report(finding{
			about: aboutSequences, what: "sequences of next_snowflake() that cannot be read could not be made anew",
			why: err.Error(), hint: fault.HintOf(err), fault: slog.LevelWarn,
		})
	default:
		m.found.right(aboutSequences)
		if len(names) == 0 {
			return
		}
		m.found.log.Warn("sequences of next_snowflake() that a failover left unreadable were made anew",
			"database", m.found.database, "sequences", strings.Join(names, ", "))
	}
}

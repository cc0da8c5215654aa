package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/hint"
	"pgflurry/namespace"
)

// mayNotMend is the pause after a refusal. Each refusal is a line in the server's log.
const mayNotMend = 10 * time.Minute

// mend recreates sequences of the function that a failover has made unreadable. If that fails, the look still counts
// and the permission stands. A later look tries again. It also tells of guards that do not hold. Only some looks ask,
// because it doubles their cost.
func (d *databaseWatch) mend(ctx context.Context, conn *pgx.Conn) {
	now := d.clock.monotonic()
	if now < d.mendDue {
		return
	}
	d.mendDue = now + d.pauses.mend
	if weak, err := namespace.WeakGuards(ctx, conn); err == nil {
		d.reportGuards(weak)
	}
	switch names, err := namespace.MendSequences(ctx, conn); {
	case errors.Is(err, namespace.ErrMayNotMend):
		d.mendDue = now + mayNotMend
	case err != nil:
		d.report(finding{
			about: aboutSequences, what: "sequences of next_snowflake() that cannot be read could not be made anew",
			why: err.Error(), hint: hint.Of(err), fault: slog.LevelWarn,
		})
	default:
		d.lastLogged[aboutSequences].Right("")
		if len(names) == 0 {
			return
		}
		d.log.Warn("sequences of next_snowflake() that a failover left unreadable were made anew",
			"database", d.name, "sequences", strings.Join(names, ", "))
	}
}

package decide

import (
	"context"
	"fmt"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/session"
)

// tickAfter returns the first tick whose IDs are all above an ID, and refuses an ID that no layout of this kind has.
func tickAfter(layout generator.Layout, id int64) (int64, error) {
	tick := id>>(layout.DatacenterBits+layout.WorkerBits+layout.SequenceBits) + 1
	if tick >= 1<<layout.TimestampBits {
		return 0, session.Contradicts("Choose a layout with more timestamp bits, or with more bits in all. "+
			"If another generator gave it, docs/from-another-generator.md has its layout.",
			"ID %d is above every ID of layout %s", id, layout)
	}
	return tick, nil
}

// firstAbove refuses a new namespace whose first ID, by the server's clock, would not be above an ID.
func firstAbove(ctx context.Context, d *session.Database, layout generator.Layout, id *int64) error {
	if id == nil {
		return nil
	}
	tick, err := tickAfter(layout, *id)
	if err != nil {
		return err
	}
	now, err := session.Clock(ctx, d.Conn)
	if err != nil {
		return err
	}
	begins := layout.Time(tick)
	if !begins.After(now) {
		return nil
	}
	const form = "2006-01-02T15:04:05.000Z07:00"
	return session.Contradicts(adviceAbove(layout, begins, now),
		"the first ID would not be above %d, which is of %s by layout %s: the server's clock shows %s",
		*id, layout.Time(tick-1).UTC().Format(form), layout.Full(), now.UTC().Format(form))
}

// othersBefore writes into the rows of a new namespace that another generator gave IDs up to this one, with any worker.
// So no proxy gives one of those, even if the server's clock is set back. The function begins now, and needs no such
// mark.
func othersBefore(ctx context.Context, d *session.Database, layout generator.Layout, id int64) error {
	tick, err := tickAfter(layout, id)
	if err != nil {
		return err
	}
	if _, err := d.Conn.Exec(ctx, sql.OthersBefore, tick); err != nil {
		return session.Failed("writing down where the IDs of the other generator end", err)
	}
	return nil
}

// adviceAbove says with which epoch the first ID would be above.
func adviceAbove(layout generator.Layout, begins, now time.Time) string {
	const other = "If another generator gave it, docs/from-another-generator.md has its layout and epoch. "
	earlier := layout
	earlier.Epoch = layout.Epoch.Add(now.Sub(begins)).UTC().Truncate(24 * time.Hour)
	switch {
	case begins.Sub(now) < 24*time.Hour:
		return fmt.Sprintf("Wait until the server's clock has passed that, %v. %s",
			begins.Sub(now).Round(time.Second), other)
	case earlier.Validate() != nil || earlier.CheckLifetime(now) != nil:
		return other + "No epoch makes the first ID of this layout higher: it would end within a year, or begin " +
			"before 1970. Choose another layout."
	}
	return fmt.Sprintf("%sElse it would be above with --epoch %s, or an earlier one.", other,
		earlier.Epoch.Format(time.RFC3339))
}

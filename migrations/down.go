package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

// Down removes everything that Up made, in one transaction. It refuses
//
//   - while an ID of the namespace could be ahead of the database's clock, because a later namespace could repeat it,
//   - while anything in the database uses a function of pgflurry,
//   - if databases have joined the namespace whose home this is, unless leaveJoined is true.
//
// Its error names all that is in the way. A function in public that is not pgflurry's stays, whatever its name. If the
// database has no pgflurry, Down changes nothing, and removed is false.
func Down(ctx context.Context, url string, leaveJoined bool) (removed bool, err error) {
	return down(ctx, url, leaveJoined, all(), nil)
}

// down is Down with a list of migrations. say gets a sentence if only functions in public were left; nil: nobody.
func down(
	ctx context.Context, url string, leaveJoined bool, list []migration, say func(string),
) (removed bool, err error) {
	d, err := session.Open(ctx, url)
	if err != nil {
		return false, err
	}
	defer d.Close()
	if err := d.Lock(ctx); err != nil {
		return false, err
	}
	if !d.Facts.HasSchema {
		return removeOrphans(ctx, d, Settings{Say: say})
	}
	if err := d.Facts.MayMigrate(); err != nil {
		return false, err
	}
	if err := d.Facts.NotNewer(ctx, d.Conn, revision(list)); err != nil {
		return false, err
	}
	err = d.InTransaction(ctx, "removing pgflurry", func() error { return remove(ctx, d, leaveJoined, list) })
	return err == nil, err
}

// longestWait is the longest pause of DownSaying before it checks and reports again.
const longestWait = 10 * time.Second

// DownSaying is Down, and calls say if only functions in public were left. If onWait is not nil, it waits while IDs may
// be ahead of the clock, and nothing else is in the way. Before each pause it calls onWait with the reason and the time
// left. It holds no lock while it waits. If a proxy goes on renewing, it waits until ctx ends.
func DownSaying(
	ctx context.Context, url string, leaveJoined bool, say func(string), onWait func(*RestError),
) (removed bool, err error) {
	for {
		removed, err = down(ctx, url, leaveJoined, all(), say)
		var resting *RestError
		if onWait == nil || !errors.As(err, &resting) {
			return removed, err
		}
		onWait(resting)
		pause := time.NewTimer(min(resting.Left, longestWait))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return false, fmt.Errorf("nothing was removed: %w", ctx.Err())
		}
	}
}

// remove removes everything, or returns all that is in the way. The caller then rolls the transaction back.
func remove(ctx context.Context, d *session.Database, leaveJoined bool, list []migration) error {
	applied, err := readApplied(ctx, d.Conn)
	if err != nil {
		return err
	}
	if err := installNames(ctx, d); err != nil {
		return err
	}
	var all obstacles
	if len(applied) > 0 { // otherwise the first Up ended before an ID could exist
		if all, err = lookForObstacles(ctx, d, leaveJoined, list, applied); err != nil {
			return err
		}
	}
	if all.held { // the statements below would fail
		return all.err()
	}
	if err := d.Script(ctx, "removing the functions", sqlfuncs.Drop().SQL); err != nil {
		return err
	}
	for _, m := range slices.Backward(list) {
		if _, ok := applied[m.version]; !ok {
			continue
		}
		if err := d.Script(ctx, "removing what "+m.name+" made", m.down); err != nil {
			return err
		}
	}
	left, err := session.Texts(ctx, d.Conn, "looking for what is left in schema pgflurry", sql.Left)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		all.add(session.Refuse("Move these to another schema, or drop them, first; nothing is removed with CASCADE.",
			"schema pgflurry holds %d objects that are not pgflurry's:\n  %s", len(left), strings.Join(left, "\n  ")))
	}
	if err := all.err(); err != nil {
		return err
	}
	return d.Script(ctx, "removing schema pgflurry", sql.DropSchema)
}

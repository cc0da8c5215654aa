package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/sqlfuncs"
)

// Down removes everything that Up made, in one transaction. It refuses
//
//   - while an ID of the namespace could be ahead of the database's clock, because a later namespace could repeat it,
//   - while anything in the database uses a function of pgflurry,
//   - if databases have joined the namespace whose home this is, unless leaveJoined is true.
//
// A function in public that is not pgflurry's stays, whatever its name. If the database has no pgflurry, Down changes
// nothing, and removed is false.
func Down(ctx context.Context, url string, leaveJoined bool) (removed bool, err error) {
	return down(ctx, url, leaveJoined, all())
}

// down is Down with a list of migrations.
func down(ctx context.Context, url string, leaveJoined bool, list []migration) (removed bool, err error) {
	d, err := open(ctx, url)
	if err != nil {
		return false, err
	}
	defer d.close()
	if err := d.lock(ctx); err != nil {
		return false, err
	}
	if !d.facts.hasSchema {
		return false, nil
	}
	if err := d.facts.mayMigrate(); err != nil {
		return false, err
	}
	if err := d.facts.notNewer(ctx, d.conn, revision(list)); err != nil {
		return false, err
	}
	err = d.inTransaction(ctx, "removing pgflurry", func() error { return remove(ctx, d, leaveJoined, list) })
	return err == nil, err
}

// longestWait is the longest pause of DownWaiting before it checks and reports again.
const longestWait = 10 * time.Second

// DownWaiting is Down, but waits while IDs may be ahead of the clock. Before each pause it calls onWait with the reason
// and the time left. It holds no lock while it waits. If a proxy goes on renewing, it waits until ctx ends.
func DownWaiting(ctx context.Context, url string, leaveJoined bool, onWait func(*RestError)) (removed bool, err error) {
	for {
		removed, err = Down(ctx, url, leaveJoined)
		var resting *RestError
		if !errors.As(err, &resting) {
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

func remove(ctx context.Context, d *database, leaveJoined bool, list []migration) error {
	applied, err := readApplied(ctx, d.conn)
	if err != nil {
		return err
	}
	if err := installNames(ctx, d); err != nil {
		return err
	}
	if len(applied) > 0 { // otherwise the first Up ended before an ID could exist
		if err := mayRemove(ctx, d, leaveJoined); err != nil {
			return err
		}
	}
	if err := d.script(ctx, "removing the functions", sqlfuncs.Drop().SQL); err != nil {
		return err
	}
	for _, m := range slices.Backward(list) {
		if _, ok := applied[m.version]; !ok {
			continue
		}
		if err := d.script(ctx, "removing what "+m.name+" made", m.down); err != nil {
			return err
		}
	}
	left, err := texts(ctx, d.conn, "looking for what is left in schema pgflurry", sql.Left)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return refuse("Move these to another schema, or drop them, first; nothing is removed with CASCADE.",
			"schema pgflurry holds %d objects that are not pgflurry's:\n  %s", len(left), strings.Join(left, "\n  "))
	}
	return d.script(ctx, "removing schema pgflurry", sql.DropSchema)
}

// mayRemove returns an error if it is not safe to remove pgflurry.
func mayRemove(ctx context.Context, d *database, leaveJoined bool) error {
	if err := d.script(ctx, "locking the tables", sql.Quiet); err != nil {
		return err
	}
	users, err := texts(ctx, d.conn, "looking for what uses the functions", sql.Dependents)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return refuse("Drop or change these first; nothing is removed with CASCADE.",
			"these use pgflurry:\n  %s", strings.Join(users, "\n  "))
	}
	// nothingAhead calls these functions, and somebody may have dropped them
	if err := d.script(ctx, "installing "+sqlfuncs.Ticks().Name, sqlfuncs.Ticks().SQL); err != nil {
		return err
	}
	if !leaveJoined {
		if err := noneJoined(ctx, d.conn); err != nil {
			return err
		}
	}
	return nothingAhead(ctx, d.conn)
}

// noneJoined refuses while other databases draw from the namespace whose home this is. Without the home nothing records
// which workers they have.
func noneJoined(ctx context.Context, conn *pgx.Conn) error {
	joined, err := readJoined(ctx, conn)
	if err != nil || len(joined) == 0 {
		return err
	}
	lines := make([]string, len(joined))
	for i, j := range joined {
		lines[i] = fmt.Sprintf("%s (worker %d, %s)", j.Database, j.Worker, j.Address)
	}
	return refuse(`Run "pgflurry migrate down" on them first. `+
		`Then, or if they are gone or shall go on by themselves, run it here with --leave-joined.`,
		"other databases have joined the namespace that is at home here:\n  %s", strings.Join(lines, "\n  "))
}

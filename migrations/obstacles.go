package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

// obstacles are what keeps Down from removing pgflurry.
type obstacles struct {
	list []error
	held bool // something uses what would be removed, so the statements that remove it fail
}

func (o *obstacles) add(err error) {
	if err != nil {
		o.list = append(o.list, err)
	}
}

// err is one error for all; nil: there is no obstacle.
func (o *obstacles) err() error {
	switch len(o.list) {
	case 0:
		return nil
	case 1:
		return o.list[0]
	}
	said, advice := make([]string, len(o.list)), make([]string, len(o.list))
	for i, one := range o.list {
		said[i], advice[i] = fmt.Sprintf("%d. %v", i+1, one), fmt.Sprintf("%d. %s", i+1, fault.HintOf(one))
	}
	return session.Refuse(strings.Join(advice, "\n"), "nothing was removed, for %d reasons:\n%s", len(o.list),
		strings.Join(said, "\n"))
}

const adviceOnUsers = "Drop or change these first; nothing is removed with CASCADE. " +
	"docs/moving.md has the statements, under Leaving."

// lookForObstacles looks for all reasons why it is not safe to remove pgflurry. An error means that it could not look.
func lookForObstacles(
	ctx context.Context, d *session.Database, leaveJoined bool, list []migration, applied map[int]time.Time,
) (all obstacles, err error) {
	if err := d.Script(ctx, "locking the tables", sql.Quiet); err != nil {
		return all, err
	}
	users, err := session.Texts(ctx, d.Conn, "looking for what uses the functions", sql.Dependents)
	if err != nil {
		return all, err
	}
	if len(users) > 0 {
		all.held = true
		all.add(session.Refuse(adviceOnUsers,
			"these use pgflurry:\n  %s", strings.Join(users, "\n  ")))
	}
	for _, m := range slices.Backward(list) {
		if _, is := applied[m.version]; !is {
			continue
		}
		inUse, err := rowsInUse(ctx, d, m)
		if err != nil {
			return all, err
		}
		if inUse != nil {
			all.held = true
			all.add(inUse)
		}
	}
	if !leaveJoined {
		joined, err := noneJoined(ctx, d.Conn)
		if err != nil {
			return all, err
		}
		all.add(joined)
	}
	// nothingAhead calls these functions, and somebody may have dropped them
	if err := d.Script(ctx, "installing "+sqlfuncs.Ticks().Name, sqlfuncs.Ticks().SQL); err != nil {
		return all, err
	}
	ahead, err := nothingAhead(ctx, d.Conn)
	if ahead != nil {
		all.add(ahead)
	}
	return all, err
}

// rowsInUse tries what takes a migration back, and returns its refusal; nil: it does not refuse. Nothing stays changed.
// Other errors come from what is still in place, which the removal takes away first.
func rowsInUse(ctx context.Context, d *session.Database, m migration) (refusal, err error) {
	trying := "trying to remove what " + m.name + " made"
	if err := d.Script(ctx, trying, sql.Try); err != nil {
		return nil, err
	}
	done := d.Script(ctx, "removing what "+m.name+" made", m.down)
	if err := d.Script(ctx, trying, sql.TakeBack); err != nil {
		return nil, err
	}
	if said := new(pgconn.PgError); errors.As(done, &said) && said.Code == "23001" { // restrict violation
		return done, nil
	}
	return nil, nil
}

// noneJoined refuses while other databases draw from the namespace whose home this is. Without the home nothing records
// which workers they have.
func noneJoined(ctx context.Context, conn *pgx.Conn) (refusal, err error) {
	joined, err := readJoined(ctx, conn)
	if err != nil || len(joined) == 0 {
		return nil, err
	}
	if row, err := namespace.Read(ctx, conn); err == nil {
		if _, copied := row.Copied(); copied { // they have joined its original
			return nil, nil
		}
	}
	lines := make([]string, len(joined))
	for i, j := range joined {
		lines[i] = fmt.Sprintf("%s (worker %d, %s)", j.Database, j.Worker, j.Address)
	}
	return session.Refuse(`Run "pgflurry migrate down" on them first. `+
		`Then, or if they are gone or shall go on by themselves, run it here with --leave-joined.`,
		"other databases have joined the namespace that is at home here:\n  %s", strings.Join(lines, "\n  ")), nil
}

// removeOrphans removes pgflurry's functions in public from a database without schema pgflurry. DROP SCHEMA pgflurry
// CASCADE leaves them: PostgreSQL does not see that they need it.
func removeOrphans(ctx context.Context, d *session.Database, s Settings) (removed bool, err error) {
	names, err := session.Texts(ctx, d.Conn, "looking for functions in public", sql.Orphans)
	if err != nil || len(names) == 0 {
		return false, err
	}
	if err := d.Facts.MayMigrate(); err != nil {
		return false, err
	}
	err = d.InTransaction(ctx, "removing the functions in public", func() error {
		if err := d.Script(ctx, "making schema pgflurry", sql.Bootstrap); err != nil {
			return err
		}
		if err := installNames(ctx, d); err != nil {
			return err
		}
		users, err := session.Texts(ctx, d.Conn, "looking for what uses the functions", sql.Dependents)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return session.Refuse(adviceOnUsers,
				"schema pgflurry was dropped, its functions are left in public, and these use them:\n  %s",
				strings.Join(users, "\n  "))
		}
		if err := d.Script(ctx, "removing the functions in public", sqlfuncs.Drop().SQL); err != nil {
			return err
		}
		return d.Script(ctx, "removing schema pgflurry", sql.DropSchema)
	})
	if err != nil {
		return false, err
	}
	left, err := session.Texts(ctx, d.Conn, "looking for functions in public", sql.Orphans)
	if err != nil || len(left) == len(names) {
		return false, err // they are somebody else's
	}
	s.Tell(fmt.Sprintf("schema pgflurry was dropped before, which had left %d functions in public",
		len(names)-len(left)))
	return true, nil
}

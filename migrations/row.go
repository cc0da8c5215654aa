package migrations

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"pgflurry/generator"
	"pgflurry/namespace"
	"pgflurry/outcome"
)

var (
	//go:embed queries/identify.sql
	identifySQL string
	//go:embed queries/new_namespace.sql
	newNamespaceSQL string
)

// ownRow makes sure that the namespace row is this database's own. It makes the row, or judges the existing one and
// does what the operator asked for. Package namespace explains the row, and what a copy is.
func (d *database) ownRow(ctx context.Context, s Settings, h *home) error {
	present, err := namespace.Read(ctx, d.Conn)
	if missing := new(namespace.NotMigratedError); errors.As(err, &missing) {
		return d.found(ctx, s, h)
	}
	if err != nil {
		return err
	}
	why, copied := present.Copied()
	if s.Copy && !copied {
		why = fmt.Sprintf("database %q is a copy of the files of a server, as --copy says", present.Database)
	}
	if why != "" && s.otherRegion(present) {
		return d.becomeRegion(ctx, s, h)
	}
	if err := d.unchanged(ctx, s, present); err != nil {
		return err
	}
	switch {
	case h != nil && h.facts.database == d.facts.database && h.facts.started.Equal(d.facts.started):
		return refuse("Leave --join out.", "database %q is the home of namespace %s itself",
			present.Database, present.ID)
	case h != nil && why == "" && present.Home == "" && present.ID == h.row.ID:
		return refuse(`On the copy, and on no other, add --copy. `+
			`Be sure which of the two it is: the other one keeps its workers.`,
			"database %q and %s are both the home of namespace %s: "+
				"one of them is a copy of the files of the other's server",
			present.Database, address(h.settings), present.ID)
	case s.NewNamespace && why == "":
		return refuse("If it is a copy of the files of a server (base backup, snapshot, clone of the machine) and the "+
			"original lives on, add --copy.",
			"database %q is not a copy: it belongs to namespace %s", present.Database, present.ID)
	case s.NewNamespace:
		d.decided = true
		return d.newNamespace(ctx, s, present)
	case h != nil && h.row.ID != present.ID:
		return foreign(present, h, why)
	case s.Moved:
		return d.moved(ctx, s, present, h, why)
	case why == "" && h == nil:
		return nil
	case why == "":
		return d.rejoin(ctx, s, present, h)
	case h == nil:
		return refuseCopy(present, why)
	}
	if err := d.joinAnew(ctx, s, h); err != nil {
		return err
	}
	d.decided = true
	return d.script(ctx, "writing down which database this is", identifySQL)
}

// newNamespace makes a copy an ID space of its own.
func (d *database) newNamespace(ctx context.Context, s Settings, former namespace.Namespace) error {
	const doing = "making the copy a namespace of its own"
	if _, err := d.Exec(ctx, newNamespaceSQL, s.AfterID); err != nil {
		return failed(doing, err)
	}
	now, err := namespace.Read(ctx, d.Conn)
	if err == nil && (now.ID == former.ID || now.Home != "") {
		return dropped(d, doing)
	}
	return err
}

// settled reads the row again: the database must be an original, and of the namespace of its home. Procedures of SQL
// return no count of the rows that they changed.
func (d *database) settled(ctx context.Context, h *home) error {
	now, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return err
	}
	_, copied := now.Copied()
	if copied || h != nil && (now.ID != h.row.ID || now.Home != address(h.settings)) {
		return dropped(d, "writing down which database this is")
	}
	return nil
}

// found makes the row of a new namespace, or of a namespace whose home is elsewhere.
func (d *database) found(ctx context.Context, s Settings, h *home) error {
	anew := s.Moved && s.Space != nil && h == nil // replaces a region's database that was lost
	if s.NewNamespace || s.Moved && !anew || s.Copy || s.FreshWorker || s.JoinsComplete {
		return refuse("Leave --new-namespace, --moved, --copy, --fresh-worker and --joins-complete out.",
			"database %q has no namespace yet", d.facts.database)
	}
	if h != nil {
		return d.joinNew(ctx, s, h)
	}
	layout, err := s.layout(generator.DefaultLayout())
	if err != nil {
		return err
	}
	if err := s.region(layout); err != nil {
		return err
	}
	if err := d.mayBegin(ctx, layout); err != nil {
		return err
	}
	d.founded = true
	if err := d.create(ctx, s, layout); err != nil || !anew {
		return err
	}
	return d.instead(ctx)
}

// unchanged refuses settings that contradict the row.
func (d *database) unchanged(ctx context.Context, s Settings, present namespace.Namespace) error {
	if err := sameSpace(s, present); err != nil {
		return err
	}
	s.Region = present.Region
	layout, err := s.layout(present.Layout)
	if err != nil {
		return err
	}
	if s.DatabaseWorkers != 0 && s.DatabaseWorkers != present.DatabaseWorkers {
		return contradicts("This number cannot change. Leave it out.",
			"the namespace of database %q keeps %d workers for database functions, not %d",
			d.facts.database, present.DatabaseWorkers, s.DatabaseWorkers)
	}
	if s.Disposable && !present.Disposable {
		return contradicts("Leave --disposable out, or make another database for tests.",
			"the namespace of database %q is not disposable, and cannot become it", d.facts.database)
	}
	err = d.create(ctx, s, layout) // only compares the layout, because the row exists
	if errors.As(err, new(*serverError)) {
		return outcome.As(outcome.Usage, err)
	}
	return err
}

// foreign refuses to join another namespace than the database's own.
func foreign(present namespace.Namespace, h *home, why string) error {
	if why != "" {
		return refuse("Run it with --new-namespace if the copy shall be an ID space of its own.",
			"database %q is a copy from namespace %s and cannot join %s of %s: its IDs could meet theirs",
			present.Database, present.ID, h.row.ID, address(h.settings))
	}
	return refuse("A database belongs to one namespace for good: its IDs could meet those of another.",
		"database %q belongs to namespace %s, not to %s of %s",
		present.Database, present.ID, h.row.ID, address(h.settings))
}

// refuseCopy says what a copy can become, with the command for each choice.
func refuseCopy(present namespace.Namespace, why string) error {
	original, moved := "URL-OF-THE-ORIGINAL", "--moved"
	if present.Home != "" {
		original, moved = present.Home, "--join HOME --moved"
	}
	another := ""
	if present.Region != nil {
		another = fmt.Sprintf(`
  pgflurry migrate up --database URL --region NUMBER --namespace FINGERPRINT
                                                           to begin another region with these rows, with a number
                                                           that no region has; FINGERPRINT is
  %s`, present.Fingerprint())
	}
	err := refuse(fmt.Sprintf(`Its function still carries the worker of the original. Run one of:
  pgflurry migrate up --database URL --join HOME           to share one ID space with the original, with a worker
                                                           of its own; HOME is %s
  pgflurry migrate up --database URL --new-namespace       to make it an ID space of its own
  pgflurry migrate up --database URL %s
                                                           if it takes the place of the original, which was closed
                                                           ("pgflurry close") or is gone for good, and no other copy
                                                           does; or is the original, restored in place%s`,
		original, moved, another), "%s", why)
	return outcome.As(outcome.NotInPlace, err)
}

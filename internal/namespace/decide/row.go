package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pgflurry/generator"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// A Verdict says what a run has made of the namespace row.
type Verdict struct {
	Founded bool // it made the namespace, so that has no IDs yet
	Decided bool // it wrote down which database this is, as its operator said
	Raised  bool // it raised the quarantine for a longer max_window
}

// OwnRow makes sure that the namespace row is this database's own. It makes the row, or judges the existing one and
// does what the operator asked for. Package namespace explains the row, and what a copy is.
func OwnRow(ctx context.Context, d *session.Database, s Settings, h *Home) (Verdict, error) {
	present, err := namespace.Read(ctx, d.Conn)
	if errors.As(err, new(*namespace.NotMigratedError)) {
		return Verdict{Founded: h == nil}, found(ctx, d, s, h)
	}
	if err != nil {
		return Verdict{}, err
	}
	why := s.whyCopied(present)
	if s.Copy && why == "" {
		why = fmt.Sprintf("database %q is a copy of the files of a server, as --copy says", present.Database)
	}
	if why != "" && s.otherRegion(present) {
		if err := forgetRegion(ctx, d, s, h); err != nil {
			return Verdict{}, err
		}
		s.Copy = false
		return Verdict{Founded: true, Decided: true}, found(ctx, d, s, nil)
	}
	if err := unchanged(ctx, d, s, present); err != nil {
		return Verdict{}, err
	}
	return own(ctx, d, s, h, present, why)
}

// own does with an existing row what the operator asked for. why says why the database is a copy; "": it is not one.
func own(
	ctx context.Context, d *session.Database, s Settings, h *Home, present namespace.Namespace, why string,
) (v Verdict, err error) {
	switch {
	case h != nil && h.Facts.Database == d.Facts.Database && h.Facts.Started.Equal(d.Facts.Started):
		return v, session.Refuse("Leave it as it is.", "database %q is the home of namespace %s itself",
			present.Database, present.ID)
	case h != nil && why == "" && present.Home == "" && present.ID == h.row.ID:
		return v, session.Refuse(`On the copy, and on no other, add --copy. `+
			`Be sure which of the two it is: the other one keeps its workers.`,
			"database %q and %s are both the home of namespace %s: "+
				"one of them is a copy of the files of the other's server",
			present.Database, h.Address(), present.ID)
	case h != nil && why != "" && s.JoinsComplete:
		return v, homeKnows(present)
	case s.NewNamespace && why == "":
		return v, session.Refuse("Never go on with the original: databases that have joined it would "+
			"lose their home. On a copy of a server's files (base backup, snapshot, clone), and nowhere else, add "+
			"--copy.",
			"database %q is not a copy: it belongs to namespace %s", present.Database, present.ID)
	case s.NewNamespace:
		return Verdict{Decided: true}, newNamespace(ctx, d, s.AfterID, present)
	case h != nil && h.row.ID != present.ID:
		return v, foreign(present, h, why)
	case s.Moved:
		v.Raised, err = takePlace(ctx, d, s, present, h, why)
	case why == "" && h == nil:
		return v, nil
	case why == "":
		return v, rejoin(ctx, d, s, present, h)
	case h == nil:
		return v, refuseCopy(ctx, d, present, why)
	default:
		err = joinAnew(ctx, d, h, s.Version)
	}
	if err != nil {
		return Verdict{}, err
	}
	v.Decided = true
	return v, d.Script(ctx, "writing down which database this is", sql.Identify)
}

// newNamespace makes a copy an ID space of its own.
func newNamespace(ctx context.Context, d *session.Database, afterID *int64, former namespace.Namespace) error {
	const doing = "making the copy a namespace of its own"
	if _, err := d.Conn.Exec(ctx, sql.NewNamespace, afterID); err != nil {
		return session.Failed(doing, err)
	}
	now, err := namespace.Read(ctx, d.Conn)
	if err == nil && (now.ID == former.ID || now.Home != "") {
		return session.Dropped(d, doing)
	}
	return err
}

// Settled reads the row again: the database must be an original, and of the namespace of its home. Procedures of SQL
// return no count of the rows that they changed.
func Settled(ctx context.Context, d *session.Database, h *Home) error {
	now, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return err
	}
	_, copied := now.Copied()
	if copied || h != nil && (now.ID != h.row.ID || now.Home != h.Address()) {
		return session.Dropped(d, "writing down which database this is")
	}
	return nil
}

// found makes the row of a new namespace, or of a namespace whose home is elsewhere.
func found(ctx context.Context, d *session.Database, s Settings, h *Home) error {
	anew := s.Moved && s.Space != nil && h == nil // replaces a region's database that was lost
	if s.Moved && !anew {
		return session.Refuse("If the database of a region was lost for good: --region NUMBER --namespace FINGERPRINT.",
			"database %q has no namespace yet", d.Facts.Database)
	}
	if s.NewNamespace || s.Copy || s.FreshWorker || s.JoinsComplete || s.Existing {
		return session.Refuse("Run \"pgflurry migrate up\" for an ID space of its own, or \"pgflurry namespace join\".",
			"database %q has no namespace yet", d.Facts.Database)
	}
	if h != nil {
		return joinNew(ctx, d, s, h)
	}
	layout, err := s.WantedLayout(generator.DefaultLayout())
	if err != nil {
		return err
	}
	if err := s.MayHave(layout); err != nil {
		return err
	}
	if err := mayBegin(ctx, d, layout); err != nil {
		return err
	}
	if err := firstAbove(ctx, d, layout, s.AfterID); err != nil {
		return err
	}
	if err := create(ctx, d, s, layout); err != nil {
		return err
	}
	if s.AfterID != nil {
		if err := othersBefore(ctx, d, layout, *s.AfterID); err != nil {
			return err
		}
	}
	if !anew {
		return nil
	}
	return beginInstead(ctx, d, s)
}

// mayBegin refuses a new namespace whose layout, by the server's clock, has not begun or ends soon.
func mayBegin(ctx context.Context, d *session.Database, layout generator.Layout) error {
	now, err := session.Clock(ctx, d.Conn)
	if err != nil {
		return err
	}
	return fault.WithKind(fault.Usage, layout.CheckLifetime(now))
}

// create writes the row and all worker rows, or compares layout and region with the existing row.
func create(ctx context.Context, d *session.Database, s Settings, layout generator.Layout) error {
	workers, foreign, err := s.Shares(layout)
	if err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	var id *string
	if s.Space != nil {
		id = &s.Space.ID
	}
	_, err = d.Conn.Exec(ctx, sql.CreateNamespace, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits,
		layout.SequenceBits, layout.Epoch, layout.Unit.Milliseconds(), workers, s.Disposable, id,
		s.Region, multirange(foreign))
	if err != nil {
		return session.Failed("making the namespace", err)
	}
	return nil
}

// multirange returns NULL for no workers.
func multirange(workers namespace.Ranges) *string {
	if len(workers) == 0 {
		return nil
	}
	text := workers.Multirange()
	return &text
}

// unchanged refuses settings that contradict the row.
func unchanged(ctx context.Context, d *session.Database, s Settings, present namespace.Namespace) error {
	if err := sameSpace(s, present); err != nil {
		return err
	}
	s.Region = present.Region
	if s.AfterID != nil && !s.NewNamespace {
		return session.Contradicts("Leave --after-id out.",
			"--after-id is for a new ID space, and database %q belongs to namespace %s",
			d.Facts.Database, present.ID)
	}
	layout, err := s.WantedLayout(present.Layout)
	if err != nil {
		return err
	}
	workers, foreign := s.named(present.DatabaseWorkers, present.Foreign)
	switch {
	case workers != present.DatabaseWorkers:
		return session.Contradicts("This number cannot change. Leave it out.",
			"the namespace of database %q keeps %d workers for database functions, not %d",
			d.Facts.Database, present.DatabaseWorkers, workers)
	case !slices.Equal(foreign, present.Foreign):
		return session.Contradicts("Whom a worker is for is fixed when the ID space is made. Leave "+
			"--foreign-workers out, or make a new ID space in another database.",
			"the foreign workers of the namespace of database %q are %v, not %v",
			d.Facts.Database, present.Foreign, foreign)
	}
	if s.Disposable && !present.Disposable {
		return session.Contradicts("Leave --disposable out, or make another database for tests.",
			"the namespace of database %q is not disposable, and cannot become it", d.Facts.Database)
	}
	err = create(ctx, d, s, layout) // only compares the layout, because the row exists
	if errors.As(err, new(*session.ServerError)) {
		return fault.WithKind(fault.Usage, err)
	}
	return err
}

// foreign refuses to join another namespace than the database's own.
func foreign(present namespace.Namespace, h *Home, why string) error {
	if why != "" {
		return session.Refuse("Run \"pgflurry namespace separate\" if the copy shall be an ID space of its own.",
			"database %q is a copy from namespace %s and cannot join %s of %s: its IDs could meet theirs",
			present.Database, present.ID, h.row.ID, h.Address())
	}
	return session.Refuse("A database belongs to one namespace for good: its IDs could meet those of another.",
		"database %q belongs to namespace %s, not to %s of %s",
		present.Database, present.ID, h.row.ID, h.Address())
}

// refuseCopy says what a copy is, and prints the commands that fit it.
func refuseCopy(ctx context.Context, d *session.Database, present namespace.Namespace, why string) error {
	here, original, _, err := lookForOriginal(ctx, d)
	if err != nil {
		return err
	}
	url, home, homeIs, closed := d.Given.Or("URL"), "HOME", "the original", false
	advice := "Its function still carries the worker of the original. Run the one that is true:"
	fits := func(command, when string) { advice += "\n  pgflurry namespace " + command + "\n      " + when }
	switch {
	case present.Home != "":
		home, homeIs = d.Given.At(present.Home).Or("HOME"), present.Home
	case original != "":
		home = d.Given.Beside(original).Or("HOME")
		row, err := rowOf(ctx, d.Conn, original)
		closed = err == nil && row.Closed
	}
	inPlace := here && original == "" && !present.Closed && present.NewServer == "" // as originalEnded judges
	if (!inPlace || present.Home != "") && !closed {
		what := "it shares the ID space of the original, with a worker of its own"
		if home == "HOME" { // the operator gave no URL, or the original is elsewhere
			what += "; HOME is the URL of " + homeIs
		}
		fits("join --database "+url+" --home "+home, what)
	}
	fits("separate --database "+url, "it becomes an ID space of its own")
	if original == "" || closed {
		move := "move --database " + url
		if present.Home != "" {
			move += " --home " + home
		}
		what := "it takes the place of the original, which is closed or gone for good; no other copy does"
		if inPlace {
			what = "it is the original, restored in place; or takes the place of a dropped one"
		} else {
			move += " --no-other-draws"
		}
		if present.Home == "" {
			what += "; if --max-window was raised since, add it"
		}
		fits(move, what)
	}
	if present.Region != nil {
		fits(fmt.Sprintf("join --database %s --region NUMBER --namespace %s", url, present.Fingerprint()),
			"it begins another region, with a number that no region has")
	}
	return fault.WithKind(fault.NotInPlace, session.Refuse(advice, "%s", why))
}

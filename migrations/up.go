package migrations

import (
	"context"
	_ "embed"

	"pgflurry/generator"
	"pgflurry/namespace"
	"pgflurry/outcome"
	"pgflurry/sqlfuncs"
)

var (
	//go:embed queries/bootstrap.sql
	bootstrapSQL string
	//go:embed queries/create_namespace.sql
	createNamespaceSQL string
	//go:embed queries/end_closing.sql
	endClosingSQL string
	//go:embed queries/installed.sql
	installedSQL string
)

// Up brings the database at url to the state that this version needs. It may run any number of times, also several at
// once. If the operator can act on an error, hint.Of returns how.
func Up(ctx context.Context, url string, s Settings) error {
	return up(ctx, url, s, all(), func(*database) error { return nil })
}

// UpState is Up, and returns the state that it leaves. Both use one connection.
func UpState(ctx context.Context, url string, s Settings) (state State, err error) {
	err = up(ctx, url, s, all(), func(d *database) error {
		state, err = d.afterUp(ctx)
		return err
	})
	return state, err
}

// up is Up with a list of migrations. At the end it calls then with the session, which holds the lock still.
func up(ctx context.Context, url string, s Settings, list []migration, then func(*database) error) error {
	if err := s.validate(); err != nil {
		return outcome.As(outcome.Usage, err)
	}
	d, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.bring(ctx, s, list); err != nil {
		return err
	}
	return then(d)
}

// bring does what Up does, in an open session.
func (d *database) bring(ctx context.Context, s Settings, list []migration) error {
	if err := d.mayMigrate(); err != nil {
		return err
	}
	var h *home
	if s.JoinURL != "" {
		var err error
		if h, err = openHome(ctx, s.JoinURL); err != nil {
			return err
		}
		defer h.close()
	}
	if err := d.lock(ctx); err != nil {
		return err
	}
	if err := d.notNewer(ctx, revision(list)); err != nil {
		return err
	}
	empty := !d.facts.hasSchema
	const doing = "making schema pgflurry"
	if err := d.inTransaction(ctx, doing, func() error { return d.script(ctx, doing, bootstrapSQL) }); err != nil {
		return err
	}
	if err := d.recordRestored(ctx, list); err != nil {
		return err
	}
	before, err := d.texts(ctx, "listing the unlogged sequences", unloggedSQL)
	if err != nil {
		return err
	}
	if err := d.apply(ctx, list); err != nil {
		return err
	}
	install := func() error { return d.install(ctx, s, h, revision(list)) }
	if err := d.inTransaction(ctx, "installing the functions", install); err != nil {
		if empty { // a refusal leaves no schema without a namespace; if this fails, the next run continues
			_ = d.inTransaction(ctx, "removing pgflurry", func() error { return d.remove(ctx, true, list) })
		}
		return err
	}
	if d.decided {
		if err := d.inTransaction(ctx, "ending the closing", func() error {
			return d.script(ctx, "ending the closing", endClosingSQL)
		}); err != nil {
			return err
		}
	}
	if err := d.keepStandbys(ctx, s, before); err != nil {
		return err
	}
	if s.FreshWorker {
		if err := d.freshWorker(ctx, s, h); err != nil {
			return err
		}
	}
	if s.MaxWindow != 0 {
		return d.windows(ctx, s.MaxWindow)
	}
	return nil
}

// install does everything that is not a numbered migration. last is the number of the last one.
func (d *database) install(ctx context.Context, s Settings, h *home, last int) error {
	for _, file := range sqlfuncs.Files(last, s.Functions) {
		if err := d.script(ctx, "installing "+file.Name, file.SQL); err != nil {
			return err
		}
	}
	if err := d.mendSequences(ctx, s); err != nil {
		return err
	}
	if err := d.ownRow(ctx, s, h); err != nil {
		return err
	}
	if err := d.settled(ctx, h); err != nil {
		return err
	}
	if s.JoinsComplete {
		if err := d.joinsComplete(ctx); err != nil {
			return err
		}
	}
	if s.RestartQuarantine != nil {
		if err := d.restart(ctx, *s.RestartQuarantine); err != nil {
			return err
		}
	}
	if _, err := d.Exec(ctx, installedSQL, nullable(s.Version)); err != nil {
		return failed("writing down which version installs the functions", err)
	}
	weak, err := namespace.WeakGuards(ctx, d.Conn)
	if err != nil {
		return failed("looking for weak guards", err)
	}
	if weak != "" && d.facts.revision == last { // an older schema lacks some
		s.say("guards were mended, which a restore had left without effect in some sessions, or dropped: " + weak)
	}
	return d.script(ctx, "writing the layout into the functions", sqlfuncs.Install().SQL)
}

// mayBegin refuses a new namespace whose layout, by the server's clock, has not begun or ends soon.
func (d *database) mayBegin(ctx context.Context, layout generator.Layout) error {
	now, err := d.now(ctx)
	if err != nil {
		return err
	}
	return outcome.As(outcome.Usage, layout.CheckLifetime(now))
}

// create writes the row and all worker rows, or compares layout and region with the existing row.
func (d *database) create(ctx context.Context, s Settings, layout generator.Layout) error {
	workers, err := s.databaseWorkers(layout)
	if err != nil {
		return outcome.As(outcome.Usage, err)
	}
	var id *string
	if s.Space != nil {
		id = &s.Space.ID
	}
	_, err = d.Exec(ctx, createNamespaceSQL, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits,
		layout.SequenceBits, layout.Epoch, layout.Unit.Milliseconds(), workers, s.Disposable, id,
		namespace.WorkersOf(layout, s.Region).Lowest, s.Region)
	if err != nil {
		return failed("making the namespace", err)
	}
	return nil
}

package migrations

import (
	"context"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/sqlfuncs"
)

// Up brings the database at url to the state that this version needs. It may run any number of times, also several at
// once. If the operator can act on an error, fault.HintOf returns how.
func Up(ctx context.Context, url string, s Settings) error {
	return up(ctx, url, s, all(), func(*database) error { return nil })
}

// UpState is Up, and returns the state that it leaves. Both use one connection.
func UpState(ctx context.Context, url string, s Settings) (state State, err error) {
	err = up(ctx, url, s, all(), func(d *database) error {
		state, err = stateAfterUp(ctx, d)
		return err
	})
	return state, err
}

// up is Up with a list of migrations. At the end it calls then with the session, which holds the lock still.
func up(ctx context.Context, url string, s Settings, list []migration, then func(*database) error) error {
	if err := s.validate(); err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	d, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer d.close()
	d.told = s.Doing
	if err := bring(ctx, d, s, list); err != nil {
		return err
	}
	if err := noteServer(ctx, d); err != nil {
		return err
	}
	return then(d)
}

// bring does what Up does, in an open session.
func bring(ctx context.Context, d *database, s Settings, list []migration) error {
	if err := d.facts.mayMigrate(); err != nil {
		return err
	}
	var h *home
	var err error
	if s.JoinURL != "" {
		if h, err = openHome(ctx, s.JoinURL); err != nil {
			return err
		}
		defer h.close()
	}
	if err := d.lock(ctx); err != nil {
		return err
	}
	if err := d.facts.notNewer(ctx, d.conn, revision(list)); err != nil {
		return err
	}
	if s.AfterID, err = newestID(ctx, d, s); err != nil {
		return err
	}
	empty := !d.facts.hasSchema
	const doing = "making schema pgflurry"
	if err := d.inTransaction(ctx, doing, func() error { return d.script(ctx, doing, sql.Bootstrap) }); err != nil {
		return err
	}
	if err := recordRestored(ctx, d, list); err != nil {
		return err
	}
	before, err := endangered(ctx, d)
	if err != nil {
		return err
	}
	if err := applyMissing(ctx, d, list); err != nil {
		return err
	}
	var row verdict
	err = d.inTransaction(ctx, "installing the functions", func() (err error) {
		row, err = install(ctx, d, s, h, revision(list))
		return err
	})
	if err != nil {
		if empty { // a refusal leaves no schema without a namespace; if this fails, the next run continues
			_ = d.inTransaction(ctx, "removing pgflurry", func() error { return remove(ctx, d, true, list) })
		}
		return err
	}
	if row.decided {
		if err := d.inTransaction(ctx, "ending the closing", func() error {
			return d.script(ctx, "ending the closing", sql.EndClosing)
		}); err != nil {
			return err
		}
	}
	if err := keepStandbys(ctx, d, before, s.tell); err != nil {
		return err
	}
	if s.FreshWorker {
		if err := takeFreshWorker(ctx, d, h, s.Version); err != nil {
			return err
		}
	}
	if s.MaxWindow != 0 {
		return setWindows(ctx, d, s.MaxWindow, row.founded)
	}
	return nil
}

// install does everything that is not a numbered migration, in one transaction. last is the number of the last one.
func install(ctx context.Context, d *database, s Settings, h *home, last int) (verdict, error) {
	for _, file := range sqlfuncs.Files(last, s.Functions) {
		if err := d.script(ctx, "installing "+file.Name, file.SQL); err != nil {
			return verdict{}, err
		}
	}
	if err := mendSequences(ctx, d.conn, s.tell); err != nil {
		return verdict{}, err
	}
	row, err := ownRow(ctx, d, s, h)
	if err != nil {
		return verdict{}, err
	}
	if s.NewServer != "" {
		if err := setNewServer(ctx, d, s.NewServer); err != nil {
			return verdict{}, err
		}
	}
	if err := settled(ctx, d, h); err != nil {
		return verdict{}, err
	}
	if s.JoinsComplete && h == nil {
		if err := completeJoins(ctx, d); err != nil {
			return verdict{}, err
		}
	}
	if s.RestartQuarantine != nil {
		if err := setRestart(ctx, d, *s.RestartQuarantine); err != nil {
			return verdict{}, err
		}
	}
	if _, err := d.conn.Exec(ctx, sql.Installed, nullable(s.Version)); err != nil {
		return verdict{}, failed("writing down which version installs the functions", err)
	}
	weak, err := namespace.WeakGuards(ctx, d.conn)
	if err != nil {
		return verdict{}, failed("looking for weak guards", err)
	}
	if weak != "" && d.facts.revision == last { // an older schema lacks some
		s.tell("guards were mended, which a restore had left without effect in some sessions, or dropped: " + weak)
	}
	return row, d.script(ctx, "writing the layout into the functions", sqlfuncs.Install().SQL)
}

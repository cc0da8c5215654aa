package migrations

import (
	"context"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

// Settings say what a namespace shall be.
type Settings = decide.Settings

// Up brings the database at url to the state that this version needs. It may run any number of times, also several at
// once. If the operator can act on an error, fault.HintOf returns how.
func Up(ctx context.Context, url string, s Settings) error {
	return up(ctx, url, s, all(), func(*session.Database) error { return nil })
}

// UpState is Up, and returns the state that it leaves. Both use one connection.
func UpState(ctx context.Context, url string, s Settings) (state State, err error) {
	err = up(ctx, url, s, all(), func(d *session.Database) error {
		state, err = stateAfterUp(ctx, d)
		return err
	})
	return state, err
}

// up is Up with a list of migrations. At the end it calls then with the session, which holds the lock still.
func up(ctx context.Context, url string, s Settings, list []migration, then func(*session.Database) error) error {
	if err := s.Validate(); err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	d, err := session.Open(ctx, url)
	if err != nil {
		return err
	}
	defer d.Close()
	d.Told = s.Doing
	if err := bring(ctx, d, s, list); err != nil {
		return err
	}
	if err := decide.NoteServer(ctx, d); err != nil {
		return err
	}
	return then(d)
}

// bring does what Up does, in an open session.
func bring(ctx context.Context, d *session.Database, s Settings, list []migration) error {
	if err := d.Facts.MayMigrate(); err != nil {
		return err
	}
	var h *decide.Home
	var err error
	if s.JoinURL != "" {
		if h, err = decide.OpenHome(ctx, s.JoinURL); err != nil {
			return err
		}
		defer h.Close()
	}
	if err := d.Lock(ctx); err != nil {
		return err
	}
	if err := d.Facts.NotNewer(ctx, d.Conn, revision(list)); err != nil {
		return err
	}
	if s.AfterID, err = decide.NewestID(ctx, d, s); err != nil {
		return err
	}
	empty := !d.Facts.HasSchema
	const doing = "making schema pgflurry"
	if err := d.InTransaction(ctx, doing, func() error { return d.Script(ctx, doing, sql.Bootstrap) }); err != nil {
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
	var row decide.Verdict
	err = d.InTransaction(ctx, "installing the functions", func() (err error) {
		row, err = install(ctx, d, s, h, revision(list))
		return err
	})
	if err != nil {
		if empty { // a refusal leaves no schema without a namespace; if this fails, the next run continues
			_ = d.InTransaction(ctx, "removing pgflurry", func() error { return remove(ctx, d, true, list) })
		}
		return err
	}
	if row.Decided {
		if err := d.InTransaction(ctx, "ending the closing", func() error {
			return d.Script(ctx, "ending the closing", sql.EndClosing)
		}); err != nil {
			return err
		}
	}
	if err := keepStandbys(ctx, d, before, s.Tell); err != nil {
		return err
	}
	if s.FreshWorker {
		if err := decide.TakeFreshWorker(ctx, d, h, s.Version); err != nil {
			return err
		}
	}
	if s.MaxWindow != 0 {
		return decide.SetWindows(ctx, d, s.MaxWindow, row)
	}
	return nil
}

// install does everything that is not a numbered migration, in one transaction. last is the number of the last one.
func install(ctx context.Context, d *session.Database, s Settings, h *decide.Home, last int) (decide.Verdict, error) {
	for _, file := range sqlfuncs.Files(last, s.Functions) {
		if err := d.Script(ctx, "installing "+file.Name, file.SQL); err != nil {
			return decide.Verdict{}, err
		}
	}
	if err := mendSequences(ctx, d.Conn, s.Tell); err != nil {
		return decide.Verdict{}, err
	}
	row, err := decide.OwnRow(ctx, d, s, h)
	if err != nil {
		return decide.Verdict{}, err
	}
	if s.NewServer != "" {
		if err := decide.SetNewServer(ctx, d, s.NewServer); err != nil {
			return decide.Verdict{}, err
		}
	}
	if err := decide.Settled(ctx, d, h); err != nil {
		return decide.Verdict{}, err
	}
	if s.JoinsComplete && h == nil {
		if err := decide.CompleteJoins(ctx, d); err != nil {
			return decide.Verdict{}, err
		}
	}
	if s.RestartQuarantine != nil {
		if err := decide.SetRestart(ctx, d, *s.RestartQuarantine); err != nil {
			return decide.Verdict{}, err
		}
	}
	if _, err := d.Conn.Exec(ctx, sql.Installed, session.Nullable(s.Version)); err != nil {
		return decide.Verdict{}, session.Failed("writing down which version installs the functions", err)
	}
	weak, err := namespace.WeakGuards(ctx, d.Conn)
	if err != nil {
		return decide.Verdict{}, session.Failed("looking for weak guards", err)
	}
	if weak != "" && d.Facts.Revision == last { // an older schema lacks some
		s.Tell("guards were mended, which a restore had left without effect in some sessions, or dropped: " + weak)
	}
	return row, d.Script(ctx, "writing the layout into the functions", sqlfuncs.Install().SQL)
}

package migrations

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/hint"
	"pgflurry/namespace"
	"pgflurry/sqlfuncs"
)

var (
	//go:embed queries/joins_closed.sql
	joinsClosedSQL string
	//go:embed queries/drawers.sql
	drawersSQL string
	//go:embed queries/applied.sql
	appliedSQL string
	//go:embed queries/functions.sql
	functionsSQL string
	//go:embed queries/kept.sql
	keptSQL string
	//go:embed queries/lock_tables.sql
	lockTablesSQL string
	//go:embed queries/foreign.sql
	foreignSQL string
)

// A State is the result of Status.
type State struct {
	Database   string
	Migrations []Applied
	Namespace  *namespace.Namespace // nil: none yet
	Copied     string               // why this is a copy of another database; "": it is not
	Joined     []Joined             // in a home: the databases that have joined
	// GateOpens is the time until this home grants workers again, after a failover, restore or reseed; 0: it grants.
	GateOpens time.Duration
	// Restart is how long this home grants no worker after a start of its server; 0: a restart keeps none back.
	Restart time.Duration
	// Settles is the time until this home grants workers again after the start of its server; 0: it grants.
	Settles time.Duration
	// JoinsClosed: no other database can join this home, because it may have forgotten one that did.
	JoinsClosed bool
	// roles that may set the function's sequences, or draw from them, and so can cause duplicates
	Drawers []string
	Newer   error         // the schema is newer than this program, which cannot judge it; nil: it is not
	Left    time.Duration // time to the end of the layout, by the server's clock; at most 292 years
	// Public says which functions have a name in public: sqlfuncs.Snowflake or All; "": nobody has chosen yet.
	Public    string
	Functions []Function // functions that differ from this version's; empty: none
	Kept      []Kept     // names of pgflurry's that another function has: no alias in public
	Unchecked string     // why the functions could not be compared; "": they were
	// unlogged sequences that a failover left unreadable, so that the function fails; an Up recreates them
	Unreadable []string
	Closed     bool     // "pgflurry close" has closed it for good
	WeakGuards string   // guards that are missing or do not hold in every session; "": none. An Up mends them
	LockTables []string // locks of the function that are no views
	GateBy     string   // who closed the gate last; "": not known
}

// An Applied is one migration of this version.
type Applied struct {
	Version int
	Name    string    // of its file
	At      time.Time // zero: pending
}

// A Function is a function that differs from this version's.
type Function struct {
	Name string // with the types of its arguments
	// "missing" or "changed": an Up repairs it; "foreign": not pgflurry's, and an Up refuses until it is gone
	State string
}

// A Kept is a name that is not pgflurry's in public. Call pgflurry's function of that name with schema pgflurry.
type Kept struct {
	Name  string // without arguments
	Other string // a function that has it, with the types of its arguments
}

// Joined is a database that has joined, from its claim in the home.
type Joined struct {
	Database string
	Worker   int
	Address  string // host:port/name from which it was claimed
	Since    time.Time
}

// joined lists the databases that have joined the namespace whose home this is.
func (d *database) joined(ctx context.Context) ([]Joined, error) {
	return list(ctx, d, "looking for databases that have joined", joinedSQL, pgx.RowToStructByPos[Joined])
}

// Pending reports whether an Up has anything to do.
func (s State) Pending() bool {
	return s.Namespace == nil || len(s.Functions) > 0 || len(s.Unreadable) > 0 || s.WeakGuards != "" ||
		slices.ContainsFunc(s.Migrations, func(a Applied) bool { return a.At.IsZero() })
}

// InPlace reports whether everything is known to be as this version needs it.
func (s State) InPlace() bool {
	return !s.Pending() && s.Copied == "" && !s.Closed && len(s.LockTables) == 0 && s.Unchecked == "" && s.Newer == nil
}

// Status returns the state of the database at url, and changes nothing. To compare the functions it installs them in a
// transaction that it rolls back. For that it needs the rights of Up.
func Status(ctx context.Context, url string) (State, error) {
	d, err := open(ctx, url)
	if err != nil {
		return State{}, err
	}
	defer d.close()
	row, err := namespace.Read(ctx, d.Conn)
	missing := errors.As(err, new(*namespace.NotMigratedError)) || errors.As(err, new(*namespace.OlderError))
	if err != nil && !missing {
		return State{}, err
	}
	state, pending, err := d.progress(ctx)
	if err != nil || missing {
		return state, err
	}
	if err := d.tell(ctx, row, &state); err != nil {
		return State{}, err
	}
	if err := d.notNewer(ctx, namespace.Revision); errors.As(err, new(*namespace.NewerError)) {
		state.Newer, state.Unchecked = err, "the schema is newer than this program"
		return state, nil
	} else if err != nil {
		return State{}, err
	}
	if err := d.mayMigrate(); err != nil {
		state.Unchecked = err.Error()
		return state, nil
	}
	if pending {
		state.Unchecked = "migrations are pending"
		return state, nil
	}
	state.Functions, state.Kept, err = d.drift(ctx)
	return state, err
}

// kept lists the names in public that are not pgflurry's.
func (d *database) kept(ctx context.Context) ([]Kept, error) {
	return list(ctx, d, "reading the names in public", keptSQL, pgx.RowToStructByPos[Kept])
}

// afterUp is the state that an Up of this session leaves. The functions are those that it has installed: to compare
// them they would have to be installed once more, which takes as long again. That the role may migrate, and that the
// schema is not newer, is known.
func (d *database) afterUp(ctx context.Context) (State, error) {
	if err := d.askServer(ctx); err != nil { // Up may have chosen other functions for public
		return State{}, err
	}
	state, _, err := d.progress(ctx)
	if err != nil {
		return State{}, err
	}
	row, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return State{}, err
	}
	if err := d.tell(ctx, row, &state); err != nil {
		return State{}, err
	}
	state.Kept, err = d.kept(ctx)
	return state, err
}

// progress is the part of the state that needs no namespace. pending: not every migration is applied.
func (d *database) progress(ctx context.Context) (state State, pending bool, err error) {
	state = State{Database: d.facts.database, Public: d.facts.public}
	var applied map[int]time.Time
	if d.facts.hasSchema {
		if applied, err = d.applied(ctx); err != nil {
			return State{}, false, err
		}
	}
	for _, m := range all() {
		at, done := applied[m.version]
		state.Migrations = append(state.Migrations, Applied{Version: m.version, Name: m.name, At: at})
		pending = pending || !done
	}
	return state, pending, nil
}

// tell fills in the state of the namespace and of the tables beside it.
func (d *database) tell(ctx context.Context, row namespace.Namespace, state *State) error {
	state.Namespace = &row
	state.Copied, _ = row.Copied()
	state.Closed = row.Closed
	now, err := d.now(ctx)
	if err != nil {
		return err
	}
	if state.WeakGuards, err = namespace.WeakGuards(ctx, d.Conn); err != nil {
		return failed("looking for weak guards", err)
	}
	state.Left = row.Layout.End().Sub(now)
	if row.Home == "" {
		gate, err := d.gate(ctx, row)
		if err != nil {
			return err
		}
		state.GateOpens, state.GateBy = gate.Left, gate.By
		if err := d.tellRestart(ctx, now, state); err != nil {
			return err
		}
	}
	if state.Joined, err = d.joined(ctx); err != nil {
		return err
	}
	if state.JoinsClosed, err = d.joinsClosed(ctx); err != nil {
		return err
	}
	if state.Drawers, err = d.texts(ctx, "looking for roles that may set the sequences", drawersSQL); err != nil {
		return err
	}
	if state.LockTables, err = d.texts(ctx, "looking for the locks of the function", lockTablesSQL); err != nil {
		return err
	}
	state.Unreadable, err = d.unreadable(ctx)
	return err
}

// joinsClosed reports whether no other database can join this home. If the function is missing by which the home knows,
// it returns false.
func (d *database) joinsClosed(ctx context.Context) (closed bool, err error) {
	err = d.QueryRow(ctx, joinsClosedSQL).Scan(&closed)
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "42883" { // undefined function
		return false, nil
	}
	if err != nil {
		return false, failed("looking whether other databases can join", err)
	}
	return closed, nil
}

// appliedUnread adds a hint for a role that only keeps the lease and may not read the record of the migrations.
func (d *database) appliedUnread(err error) error {
	err = failed("reading which migrations were applied", err)
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "42501" { // insufficient privilege
		return hint.With(err, "As the owner run: "+namespace.GrantLease(d.settings.User))
	}
	return err
}

// applied returns when each migration was applied.
func (d *database) applied(ctx context.Context) (map[int]time.Time, error) {
	applied := make(map[int]time.Time)
	rows, err := d.Query(ctx, appliedSQL)
	if err != nil {
		return nil, d.appliedUnread(err)
	}
	var version int
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&version, &at}, func() error {
		applied[version] = at
		return nil
	})
	if err != nil {
		return nil, d.appliedUnread(err)
	}
	return applied, nil
}

// errCompared makes drift roll its transaction back.
var errCompared = errors.New("compared")

// drift lists the functions that differ from those of this version, and the names that are not pgflurry's.
func (d *database) drift(ctx context.Context) (differ []Function, kept []Kept, err error) {
	if err := d.lock(ctx); err != nil {
		return nil, nil, err
	}
	err = d.inTransaction(ctx, "comparing the functions", func() error {
		found, err := d.functions(ctx)
		if err != nil {
			return err
		}
		if differ, err = d.foreign(ctx); err != nil {
			return err
		}
		if len(differ) > 0 {
			return errCompared
		}
		for _, file := range append(sqlfuncs.Files(revision(all()), ""), sqlfuncs.Install()) {
			if err := d.script(ctx, "comparing "+file.Name, file.SQL); err != nil {
				return err
			}
		}
		installed, err := d.functions(ctx)
		if err != nil {
			return err
		}
		if kept, err = d.kept(ctx); err != nil {
			return err
		}
		differ = differences(found, installed)
		return errCompared
	})
	if !errors.Is(err, errCompared) {
		return nil, nil, fmt.Errorf("functions: %w", err)
	}
	return differ, kept, nil
}

// foreign lists the functions that keep Up from running.
func (d *database) foreign(ctx context.Context) ([]Function, error) {
	if err := d.names(ctx); err != nil {
		return nil, err
	}
	return list(ctx, d, "reading the functions in public",
		foreignSQL, func(row pgx.CollectableRow) (f Function, err error) {
			f.State, err = "foreign", row.Scan(&f.Name)
			return f, err
		})
}

// names installs the functions that distinguish pgflurry's functions from others.
func (d *database) names(ctx context.Context) error {
	for _, file := range sqlfuncs.Names() {
		if err := d.script(ctx, "telling pgflurry's functions from others", file.SQL); err != nil {
			return err
		}
	}
	return nil
}

// functions maps each function to a digest of its definition and comment.
func (d *database) functions(ctx context.Context) (map[string]string, error) {
	digests := make(map[string]string)
	rows, err := d.Query(ctx, functionsSQL)
	if err != nil {
		return nil, failed("reading the functions", err)
	}
	var name, digest string
	_, err = pgx.ForEachRow(rows, []any{&name, &digest}, func() error {
		digests[name] = digest
		return nil
	})
	if err != nil {
		return nil, failed("reading the functions", err)
	}
	return digests, nil
}

func differences(found, installed map[string]string) []Function {
	var list []Function
	for _, name := range slices.Sorted(maps.Keys(installed)) {
		switch digest, ok := found[name]; {
		case !ok:
			list = append(list, Function{Name: name, State: "missing"})
		case digest != installed[name]:
			list = append(list, Function{Name: name, State: "changed"})
		}
	}
	return list
}

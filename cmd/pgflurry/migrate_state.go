package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
)

// stateTable is the output of "migrate status" for people: one fact a row.
func stateTable(state migrations.State) *table {
	t := newTable("what", "state", "detail")
	for _, m := range state.Migrations {
		if m.At.IsZero() {
			t.add("migration "+m.Name, "pending", "")
		} else {
			t.add("migration "+m.Name, "applied", timestamp(m.At))
		}
	}
	switch state.Public {
	case sqlfuncs.Snowflake:
		t.add("names in public", state.Public, "next_snowflake() and its kin; the others need their schema, pgflurry")
	case sqlfuncs.All:
		t.add("names in public", state.Public, "short names of the functions of schema pgflurry as well")
	}
	switch {
	case state.Unchecked != "":
		t.add("functions", "unchecked", state.Unchecked)
	case state.Namespace == nil:
		t.add("functions", "pending", "")
	case len(state.Functions) == 0:
		t.add("functions", "current", "")
	}
	for _, f := range state.Functions {
		t.add("function "+f.Name, f.State, "")
	}
	for _, name := range state.Unreadable {
		t.add("sequence pgflurry."+name, "unreadable",
			"a failover left it so, and next_snowflake() fails with XX000: \"pgflurry migrate up\" makes it anew")
	}
	if state.WeakGuards != "" {
		t.add("guards", "weak", state.WeakGuards+`: a restore has left them so; "pgflurry migrate up" mends them`)
	}
	for _, name := range state.LockTables {
		t.add("view pgflurry."+name, "no view", "ANALYZE of it stops all draws; as its owner make it anew: "+
			"CREATE VIEW pgflurry."+name+" AS SELECT 1 AS x")
	}
	for _, k := range state.Kept {
		t.add("function public."+k.Name, "kept", k.Other+" is not pgflurry's: call pgflurry."+k.Name)
	}
	if state.Namespace == nil {
		t.add("namespace", "missing", "")
		return t
	}
	t.addNamespace(state, state.Namespace)
	for _, j := range state.Joined {
		t.add("database "+j.Database, "joined",
			fmt.Sprintf("worker %d, claimed at %s on %s", j.Worker, j.Address, timestamp(j.Since)))
	}
	for _, role := range state.Drawers {
		t.add("role "+role, "may set sequences",
			"a member of pg_write_all_data, or granted it: whoever sets pgflurry.lane makes IDs come twice")
	}
	return t
}

// addNamespace adds the rows about the namespace.
func (t *table) addNamespace(state migrations.State, n *namespace.Namespace) {
	status := "own"
	switch {
	case state.Copied != "":
		status = "copied"
	case n.Home != "":
		status = "joined"
	}
	t.add("namespace", status, n.ID)
	if state.Closed {
		t.add("closed", "for good", `"pgflurry close" was run: another database takes its place`)
	}
	if n.Disposable {
		t.add("disposable", "for tests only", "copies of this database give the same IDs")
	}
	t.add("layout", n.Layout.String(), fmt.Sprintf("epoch %s, unit %s", timestamp(n.Layout.Epoch), n.Layout.Unit))
	t.add("last ID", timestamp(n.Layout.End()), fmt.Sprintf("in %.1f years", state.Left.Hours()/24/365.2425))
	if n.Region != nil {
		t.add("region", fmt.Sprint(*n.Region), fmt.Sprintf("workers %v of 0 to %d", n.Workers(), n.Layout.Workers()-1))
	}
	t.add("workers", fmt.Sprint(n.Workers().Size()),
		fmt.Sprintf("%v for database functions, worker %d for this one", n.Functions, n.FunctionWorker))
	if n.FunctionWorker != 0 || n.Layout.Bits() < 63 { // as in install_next_snowflake()
		t.add("lastval()", "not the ID", "after next_snowflake(): read the key of a new row by RETURNING")
	}
	if len(n.Foreign) > 0 {
		t.add("foreign workers", fmt.Sprint(n.Foreign.Size()),
			fmt.Sprintf("%v: a generator of another kind gives IDs with them", n.Foreign))
	}
	t.add("windows", n.MaxWindow.String(), fmt.Sprintf("skew %s, quarantine %s", n.Skew, n.Quarantine))
	if n.Home != "" {
		t.add("home", n.Home, "leases are taken there")
	} else {
		t.add("after a restart", state.Restart.String(), restartDetail(state))
	}
	t.addServer(state, n)
	if state.GateOpens > 0 {
		t.add("gate", "closed", fmt.Sprintf("no worker is granted for another %v: the database was failed over, "+
			"restored or reseeded (%s)", wholeSeconds(state.GateOpens), closedBy(state.GateBy)))
	}
	if state.JoinsClosed {
		t.add("joins", "closed", `matters only where other databases share this ID space: the server was started, `+
			`failed over or restored; let each that ever joined join again, then run "pgflurry migrate up `+
			`--joins-complete"`)
	}
}

// addServer adds what is known of the server.
func (t *table) addServer(state migrations.State, n *namespace.Namespace) {
	if n.NewServer != "" {
		t.add("server", "not known", n.NewServer)
	}
	if n.RefusesNew {
		t.add("on a new server", onNewServer(n), "no proxy gets a worker there, and the function gives no ID")
	}
	for _, proxy := range state.Elsewhere {
		t.add("elsewhere", "answers", proxy+" before this server was started: if this is a copy, its original lives")
	}
}

// onNewServer is the choice of --new-server.
func onNewServer(n *namespace.Namespace) string {
	if n.RefusesNew {
		return migrations.Refuse
	}
	return migrations.Warn
}

// restartDetail says what a start of the server costs.
func restartDetail(state migrations.State) string {
	switch {
	case state.Settles > 0:
		return fmt.Sprintf("the server has just started: no worker is granted for another %v",
			wholeSeconds(state.Settles))
	case state.Restart == 0:
		return "a start of this server keeps no worker back (--restart-quarantine 0s)"
	}
	return "no worker is granted for so long after a start of the server, which may have forgotten some"
}

// whatItIs says in words what a database is.
func whatItIs(state migrations.State) string {
	n := state.Namespace
	switch {
	case n == nil:
		return "has no ID space yet."
	case state.Copied != "":
		return "is a copy, and gives no IDs."
	case state.Closed:
		return "was closed for good, and gives no IDs."
	}
	what := "is the home of an ID space"
	if n.Home != "" {
		what = "shares the ID space at home in " + n.Home
	}
	return fmt.Sprintf("%s: layout %v since %s, worker %d for its function.", what, n.Layout,
		n.Layout.Epoch.UTC().Format(time.DateOnly), n.FunctionWorker)
}

// printState writes the table and the warnings for people.
func printState(w io.Writer, state migrations.State) error {
	if _, err := fmt.Fprintf(w, "Database %q %s\n\n", state.Database, whatItIs(state)); err != nil {
		return err
	}
	if err := stateTable(state).print(w, false); err != nil {
		return err
	}
	if n := state.Namespace; n != nil && (n.Home != "" || len(state.Joined) > 0) {
		_, err := fmt.Fprintln(w, "Addresses are as the databases were named when they joined; "+
			"a machine's name stands for its localhost or socket.")
		if err != nil {
			return err
		}
	}
	if n := state.Namespace; n != nil && n.NewServer != "" && state.Copied == "" {
		_, err := fmt.Fprintf(w, "warning: The server of this database is not known: it may be a copy beside its "+
			"original. %s\n", fault.NewServer.Hint)
		if err != nil {
			return err
		}
	}
	if state.Namespace != nil && state.Left < namespace.LayoutWarning {
		_, err := fmt.Fprintf(w, "warning: The layout ends on %s. Plan a new namespace.\n",
			timestamp(state.Namespace.Layout.End()))
		return err
	}
	return nil
}

// printDone says what the flags of up have changed. The state alone does not show that.
func (f *upFlags) printDone(w io.Writer, state migrations.State) error {
	n := state.Namespace
	if n == nil {
		return nil
	}
	var done []string
	switch {
	case f.newNamespace:
		done = append(done, fmt.Sprintf("this database is an ID space of its own now: namespace %s", n.ID))
	case f.moved && state.GateOpens > 0:
		done = append(done, fmt.Sprintf("this database is the original of its namespace now; "+
			"no worker is granted for another %v, until old grants have ended", wholeSeconds(state.GateOpens)))
	case f.moved:
		done = append(done, "this database is the original of its namespace now")
	case f.join != "":
		done = append(done, fmt.Sprintf("this database belongs to the ID space at home in %s, "+
			"and its function has worker %d there", n.Home, n.FunctionWorker))
	}
	switch f.layout.functions {
	case sqlfuncs.Snowflake:
		done = append(done, "public has next_snowflake() and its kin; the other functions are called with schema "+
			"pgflurry, such as pgflurry.incr(key)")
	case sqlfuncs.All:
		done = append(done, "public has short names of the functions of schema pgflurry, too, such as incr(key)")
	}
	if f.freshWorker {
		done = append(done, fmt.Sprintf("the function has worker %d now, and its old one is retired", n.FunctionWorker))
	}
	if f.joinsComplete {
		done = append(done, fmt.Sprintf("other databases can join again; known so far: %d", len(state.Joined)))
	}
	if f.restart != "" {
		done = append(done, fmt.Sprintf("after a start of the server no worker is granted for %v", state.Restart))
	}
	if f.newServer != "" {
		done = append(done, "on a server that is not known: "+onNewServer(n))
	}
	if f.maxWindow != 0 {
		done = append(done, windowsDone(n, state.GateOpens))
	}
	for _, text := range done {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// windowsDone says what the windows of a namespace cost.
func windowsDone(n *namespace.Namespace, gate time.Duration) string {
	said := fmt.Sprintf("proxies may reserve %v ahead (--window); a worker whose proxy crashed rests for up to %v",
		n.MaxWindow, n.MaxWindow+n.Skew+n.Quarantine)
	if n.Quarantine > migrations.QuarantineFor(n.MaxWindow, n.Skew, n.Layout.Unit) {
		said += fmt.Sprintf("\nthe quarantine stays %v, because longer grants may be in use: "+
			"run the same again after %v", n.Quarantine, n.Quarantine)
	}
	if gate > 0 {
		said += fmt.Sprintf("\nno worker is granted for another %v, until grants that a failover or a restore "+
			"may have forgotten have ended", wholeSeconds(gate))
	}
	return said
}

// takeBack is the command by which a database takes its own place, or that of its original. home is the home of one
// that has joined.
func takeBack(home string) string {
	if home != "" {
		home = " --join HOME"
	}
	return "pgflurry migrate up --database URL" + home + " --moved --no-other-draws"
}

// inPlace is an error that says what is missing or wrong; nil if everything is in place.
func inPlace(state migrations.State) error {
	switch {
	case state.InPlace():
		return nil
	case state.Newer != nil:
		return state.Newer
	case state.Copied != "":
		return fault.WithKind(fault.NotInPlace, fault.WithHint(errors.New(state.Copied),
			"Its next_snowflake() refuses to draw. \"pgflurry migrate up\" says what it can become."))
	case state.Closed:
		err := fmt.Errorf("database %q is closed for good", state.Database)
		return fault.WithKind(fault.NotInPlace, fault.WithHint(err,
			"Another database has taken its place. "+
				"If none has: "+takeBack(state.Namespace.Home)))
	case len(state.LockTables) > 0:
		return fault.WithKind(fault.NotInPlace, fault.WithHint(
			fmt.Errorf("locks of the function are no views: %s", strings.Join(state.LockTables, ", ")),
			"As the owner of schema pgflurry drop each, and make it anew: CREATE VIEW pgflurry.NAME AS SELECT 1 AS x"))
	case state.Pending():
		return fault.WithKind(fault.NotInPlace, fault.WithHint(errors.New("not everything is in place"),
			"Run \"pgflurry migrate up\"; with --join HOME if the database is to share the ID space of another one."))
	}
	return fault.WithHint(fmt.Errorf("the functions could not be compared: %s", state.Unchecked),
		"Run it on the primary, as the owner of schema pgflurry.")
}

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
	"pgflurry/internal/session"
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
		t.add("sequence pgflurry."+name, "unreadable", "a failover left it so, and next_snowflake() fails with XX000")
	}
	if state.WeakGuards != "" {
		t.add("guards", "weak", state.WeakGuards+": a restore has left them so")
	}
	for _, name := range state.LockTables {
		t.add("view pgflurry."+name, "no view", "ANALYZE of it stops all draws")
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
		t.add("closed", "for good", `"pgflurry namespace close" was run: another database takes its place`)
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
		t.add("joins", "closed", "the server was started, failed over or restored; it matters only where another "+
			"database is to join")
	}
}

// addServer adds what is known of the server.
func (t *table) addServer(state migrations.State, n *namespace.Namespace) {
	if n.NewServer != "" {
		t.add("server", "not known", n.NewServer)
	}
	if n.RefusesNew {
		t.add("on a new server", decide.Refuse, "no proxy gets a worker there, and the function gives no ID")
	}
	for _, proxy := range state.Elsewhere {
		t.add("elsewhere", "answers", proxy+" before this server was started: if this is a copy, its original lives")
	}
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
	proxies := ""
	what := "is the home of an ID space"
	switch {
	case n.Home != "":
		what = "shares the ID space at home in " + n.Home
	case state.Proxies == 1:
		proxies = ", 1 proxy"
	default:
		proxies = fmt.Sprintf(", %d proxies", state.Proxies)
	}
	return fmt.Sprintf("%s: layout %v since %s, worker %d for its function%s.", what, n.Layout,
		n.Layout.Epoch.UTC().Format(time.DateOnly), n.FunctionWorker, proxies)
}

// toDo says what the operator has to do, in whole sentences.
func toDo(state migrations.State) (all []string) {
	n := state.Namespace
	if len(state.LockTables) > 0 {
		all = append(all, "As the owner of schema pgflurry drop what is no view, and make it anew: "+
			"CREATE VIEW pgflurry.NAME AS SELECT 1 AS x")
	}
	switch {
	case n == nil:
		return append(all, "For an ID space of its own run: pgflurry migrate up --database URL. To share that of "+
			"another database, run: pgflurry namespace join --database URL --home HOME")
	case state.Pending():
		all = append(all, "Run: pgflurry migrate up --database URL. It adds what is missing, and mends what differs.")
	}
	if state.Copied != "" {
		return append(all, "Say what it shall be: \"pgflurry migrate up\" prints the commands that fit it.")
	}
	if len(state.Joined) > 0 && state.JoinsClosed {
		all = append(all, "Before another database joins: unless this server was only restarted, let each that has "+
			"joined run \"pgflurry namespace join\" again. Then run: "+
			"pgflurry namespace set --database URL --joins-complete")
	}
	if len(state.Drawers) > 0 {
		all = append(all, "Take from each listed role the right to set pgflurry's sequences. IDs could come twice.")
	}
	if n.NewServer != "" && state.Copied == "" {
		all = append(all, "The server of this database is not known: it may be a copy beside its original. "+
			fault.NewServer.Hint)
	}
	if state.Left < namespace.LayoutWarning {
		all = append(all, fmt.Sprintf("The layout ends on %s. Plan a new namespace.", timestamp(n.Layout.End())))
	}
	return all
}

// printState writes for people: what the database is, what to do, and the details. url is in the commands.
func printState(w io.Writer, state migrations.State, url string) error {
	lines := []string{fmt.Sprintf("Database %q %s", state.Database, whatItIs(state))}
	for _, sentence := range toDo(state) {
		lines = append(lines, "to do: "+session.InCommands(sentence, url))
	}
	if len(lines) == 1 && state.InPlace() {
		lines = append(lines, "pgflurry is in place there, and nothing is left to do.")
	}
	if err := printLines(w, append(lines, "")); err != nil {
		return err
	}
	if err := stateTable(state).print(w, false); err != nil {
		return err
	}
	if n := state.Namespace; n != nil && (n.Home != "" || len(state.Joined) > 0) {
		return printLines(w, []string{"Addresses are as the databases were named when they joined; " +
			"a machine's name stands for its localhost or socket."})
	}
	return nil
}

// takeBack is the command by which a database takes its own place, or that of its original. home is the home of one
// that has joined.
func takeBack(home string) string {
	if home != "" {
		home = " --home HOME"
	}
	return "pgflurry namespace move --database URL" + home + " --no-other-draws"
}

// inPlace is an error that says what is missing or wrong; nil if everything is in place. url is in its commands.
func inPlace(state migrations.State, url string) error {
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
			"It was closed for another database to take its place. Only if none ever has: "+
				session.InCommands(takeBack(state.Namespace.Home), url)))
	case len(state.LockTables) > 0:
		return fault.WithKind(fault.NotInPlace, fault.WithHint(
			fmt.Errorf("locks of the function are no views: %s", strings.Join(state.LockTables, ", ")),
			"As the owner of schema pgflurry drop each, and make it anew: CREATE VIEW pgflurry.NAME AS SELECT 1 AS x"))
	case state.Pending():
		return fault.WithKind(fault.NotInPlace, fault.WithHint(errors.New("not everything is in place"),
			"Run \"pgflurry migrate up\"; or \"pgflurry namespace join\" to share another database's ID space."))
	}
	return fault.WithHint(fmt.Errorf("the functions could not be compared: %s", state.Unchecked),
		"Run it on the primary, as the owner of schema pgflurry.")
}

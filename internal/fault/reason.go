package fault

import (
	"maps"
	"slices"
	"strings"
)

// The reasons. Each is a word that stays: report.Lease has it, and metrics and the page may.
const (
	// Gate: the lease database has noticed a failover, a restore or a reseed.
	Gate = "gate"
	// Starting: its server has just started, and may have forgotten grants.
	Starting = "starting"
	// Closed: an operator has closed it for good.
	Closed = "closed"
	// NoneFree: every worker is held, rests or is retired.
	NoneFree = "none_free"
	// Copy: it was restored, cloned or made from a template.
	Copy = "copy"
	// NoNamespace: it was not migrated.
	NoNamespace = "no_namespace"
	// Unanswered: it does not acknowledge.
	Unanswered = "unanswered"
	// Lost: the worker is another process's now, or retired.
	Lost = "lost"
)

// A Row is what people read of one reason. "…" is the place of the time at which it ends, if that is known.
type Row struct {
	Log    string // the line of the log; the cause is beside it
	Client string // why a client of the ID database gets no ID; it holds no address, role or text of a library
	// ClientHint is what that client can do. Empty: try again, at the time in the sentence if it has one.
	ClientHint string
	Page       string // the status page and the service manager, in a few words
	Hint       string // what the operator does; empty: the cause has its own hint, or nobody knows
	// Do replaces Hint on the status page, where commands follow. Commands may be none. URL stands for that of the
	// lease database, WORKER for the worker.
	Do       string
	Commands []string
}

// RetiredHint replaces the hint of NoneFree if all workers are retired: no wait helps.
const RetiredHint = "Plan a namespace with a wider layout: a retired worker never comes back."

// RangeHint replaces the hint of NoneFree if the role may lease no worker at all.
const RangeHint = "The owner of the schema gives the role workers: CALL pgflurry.grant_lease('role')."

const migrate = `Whoever runs the proxy has to run "pgflurry migrate up" on the lease database, ` +
	"which says how to go on."

var rows = map[string]Row{
	Gate: {
		Log:    "no worker is granted yet",
		Client: "no worker is granted…, since the lease database was failed over, restored or reseeded",
		Page:   "the gate is closed…",
		Hint:   "The gate opens by itself: no worker is granted that its former holder could still use.",
	},
	Starting: {
		Log:    "no worker is granted yet, the server has just started",
		Client: "no worker is granted…, since the lease database has just started",
		Page:   "the server has just started…",
		Hint: "It ends by itself: the server may have forgotten grants, and they are over by then. " +
			`If a restart of it never forgets anything, run "pgflurry namespace set --restart-quarantine 0s".`,
	},
	Closed: {
		Log:        "the database is closed for good",
		Client:     "the lease database was closed for good",
		ClientHint: "Whoever runs the proxy has to point it to the database that has taken its place.",
		Page:       "the lease database was closed for good",
		Hint: "Point the proxy to the database that has taken its place. " +
			`If none has, "pgflurry migrate up --database URL" says how to go on.`,
	},
	NoneFree: {
		Log:        "no worker is free",
		Client:     "no worker is free",
		ClientHint: "Whoever runs the proxy has to stop another one, or plan a wider layout.",
		Page:       "no worker is free", // the time of the next one moves while its holder renews
		Hint: `Stop a proxy that is not needed, or wait. "pgflurry workers list" shows who holds which worker, ` +
			"and when one is free.",
	},
	Copy: {
		Log:        "no worker is granted in a copy or a restored database",
		Client:     "the lease database is a copy, or was restored",
		ClientHint: migrate,
		Page:       "the lease database is a copy, or was restored",
		Hint:       `Run "pgflurry migrate up --database URL" on the lease database, which says how to go on.`,
		Do: "Say what this database is: one that has replaced its original, another one of the original's " +
			"ID space at home in HOME, or an ID space of its own.",
		Commands: []string{
			"pgflurry namespace move --database URL --no-other-draws",
			"pgflurry namespace join --database URL --home HOME",
			"pgflurry namespace separate --database URL",
		},
	},
	NoNamespace: {
		Log:        "no worker is leased: the namespace is not known",
		Client:     "the lease database has no namespace yet",
		ClientHint: migrate,
		Page:       "the lease database has no namespace",
		Commands:   []string{"pgflurry migrate up --database URL"},
	},
	Unanswered: {
		Log:    "the database does not acknowledge",
		Client: "the lease database has not answered yet",
		Page:   "the lease database does not acknowledge",
	},
	Lost: {
		Log:      "the worker is lost",
		Client:   "the worker was lost, and another one is not granted yet",
		Page:     "the worker was lost",
		Hint:     "The grant in hand may be finished. The node takes another worker by itself.",
		Commands: []string{"pgflurry workers history WORKER --database URL"},
	},
}

// Of is the row of a reason; empty for one that is not in the table.
func Of(reason string) Row { return rows[reason] }

// Reasons are all of the table.
func Reasons() []string { return slices.Sorted(maps.Keys(rows)) }

// Until puts a time into a sentence of a row, with the words around it; empty: the time is not known.
func Until(sentence, when string) string { return strings.Replace(sentence, "…", when, 1) }

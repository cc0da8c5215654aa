package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
)

// newWorkers is the command that shows the worker table and, in two cases only, changes it by hand.
func newWorkers() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "Show who holds or held which worker; retire one; make the table safe after a restore",
		Long: `workers shows and changes the table in which every proxy of a namespace holds its worker. Change that
table by hand with these commands only.`,
		Args: cobra.NoArgs, // so that a misspelled subcommand is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWorkersList(), newWorkersHistory(), newWorkersRetire(), newWorkersReseed(), newWorkersOpenGate())
	return cmd
}

func newWorkersList() *cobra.Command {
	var url string
	var all bool
	var format listFormat
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show who holds which worker until when",
		Long: `list shows every worker that was ever used. The states:
  held          a proxy uses it, and may until RESERVED UNTIL without asking again
  released      given back; free when RESERVED UNTIL has passed
  quarantined   its holder vanished; free after the quarantine
  free          used before, may be taken now
  never used    may be taken when RESERVED UNTIL, if it has one, has passed
  retired       never granted again
  function      written into the function of a database, for good
  foreign       a generator of another kind gives IDs with it (migrate up --foreign-workers)

No ID of the worker exists at or after RESERVED UNTIL. LEFT SECONDS count from now to that time, FREE IN
SECONDS to when any proxy may take the worker. For the worker of a function only its database knows
RESERVED UNTIL. --wide adds KIND (proxy, database or foreign), TERM, VERSION and ACQUIRED AT.

--json prints an array with an object for each worker: worker, kind, state, node, reserved_until,
left_seconds, free_in_seconds, term, address, version, acquired_at, renewed_at.
` + jsonRules,
		Example: `  pgflurry workers list --database postgres://app@localhost/shop
  pgflurry workers list --database postgres://app@localhost/shop --all --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withWorkers(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
				listing, err := lease.List(ctx, conn, all)
				if err != nil {
					return err
				}
				return printListing(cmd.OutOrStdout(), listing, ns, all, format)
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&all, "all", false, "also list workers that were never used")
	cmd.Flags().BoolVar(&format.wide, "wide", false, "show all columns")
	cmd.Flags().BoolVar(&format.json, "json", false, "print JSON")
	return cmd
}

func newWorkersRetire() *cobra.Command {
	var url string
	var held, asJSON bool
	cmd := &cobra.Command{
		Use:   "retire NUMBER",
		Short: "Take a worker out of use for good; RESERVED UNTIL stays",
		Long: `retire makes sure that no proxy ever gets the worker again. Use it if a wrong clock has pushed the
worker's RESERVED UNTIL far ahead, or if something else issues IDs with its number. There is no way back.

While a proxy holds the worker, retire needs --held. The holder then finishes its grant, at most to
RESERVED UNTIL, and takes another worker at its next renewal.

--json prints one object: worker, already (it was retired before), held, node, address,
left_seconds.
` + jsonRules,
		Example: `  pgflurry workers retire 17 --database postgres://app@localhost/shop
  pgflurry workers retire 17 --held --database postgres://app@localhost/shop`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d workers were given; "+
					"give the number of one, as \"pgflurry workers list\" shows it", len(args))
			}
			_, err := workerNumber(args[0])
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			worker, err := workerNumber(args[0])
			if err != nil {
				return err
			}
			return withWorkers(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
				if err := ns.Changes(); err != nil {
					return err
				}
				store := lease.NewPostgres(&conn.Config().Config, connect.Rules{})
				defer store.Close()
				retired, err := store.Retire(ctx, worker, held)
				if err != nil {
					return retireHint(err)
				}
				return printRetired(cmd.OutOrStdout(), retired, asJSON)
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&held, "held", false, "retire it even if a proxy holds it now")
	asksConsent(cmd, "held")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// workerNumber parses the number of a worker. Only the database knows whether that worker exists.
func workerNumber(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fault.WithKind(fault.Usage, fmt.Errorf(
			"%s is not the number of a worker; \"pgflurry workers list\" shows them", connect.Shown(text)))
	}
	return int(n), nil
}

// workersPatience limits a command: reseed locks every row, and a renewal may hold one for seconds.
const workersPatience = 30 * time.Second

// withWorkers is withHome for commands on the worker rows.
func withWorkers(
	cmd *cobra.Command, url string, run func(context.Context, *pgx.Conn, namespace.Namespace) error,
) error {
	return withHome(cmd, url, "worker rows", run)
}

// withHome connects to the home of a namespace, warns if it is a copy, and runs the command. For the error, rows names
// what only a home has.
func withHome(
	cmd *cobra.Command, url, rows string, run func(context.Context, *pgx.Conn, namespace.Namespace) error,
) error {
	config, err := connect.Parse("database", url)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), workersPatience)
	defer cancel()
	conn, err := connect.Open(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	ns, err := namespace.Read(ctx, conn)
	if err != nil {
		return err
	}
	if ns.Home != "" {
		return fault.WithKind(fault.Usage, &joinedError{database: ns.Database, rows: rows, home: ns.Home})
	}
	if why, copied := ns.Copied(); copied {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n"+
			"hint: No worker is granted here, and next_snowflake() refuses to draw. "+
			"\"pgflurry migrate up\" says what it can become.\n", why)
	}
	return run(ctx, conn, ns)
}

// joinedError means that a command needs a home, and got a database that has joined one.
type joinedError struct{ database, rows, home string }

func (e *joinedError) Error() string {
	return fmt.Sprintf("database %q has no %s: those of its namespace are in %s; give the URL of that database",
		e.database, e.rows, e.home)
}

// Hint is for a home that was renamed or moved since: the database keeps the address of before.
func (e *joinedError) Hint() string {
	return "If no database is there any more, it was renamed or moved. Then run, with its new URL: " +
		"pgflurry namespace join --database URL --home HOME"
}

// listFormat chooses the columns of the list.
type listFormat struct {
	wide bool // all columns
	json bool // all columns, for programs
}

func printListing(w io.Writer, l lease.Listing, ns namespace.Namespace, all bool, format listFormat) error {
	if !all && !format.json { // one line says which they are
		l.Rows = slices.DeleteFunc(l.Rows, func(r lease.Row) bool { return r.State == "foreign" && r.Term == 0 })
	}
	if err := listingTable(l, ns, format).print(w, format.json); err != nil || format.json {
		return err
	}
	if ns.Region != nil {
		fmt.Fprintf(w, "region %d: workers %v; those of other regions are leased in their own databases\n",
			*ns.Region, ns.Workers())
	}
	if len(ns.Foreign) > 0 {
		fmt.Fprintf(w, "foreign workers: %v; a generator of another kind gives IDs with them\n", ns.Foreign)
	}
	if !all {
		fmt.Fprintf(w, "%d workers for proxies and %d for functions were never used (--all lists them)\n",
			l.NeverUsed, l.NeverUsedByFuncs)
	}
	if l.GateOpens > 0 {
		fmt.Fprintf(w, "no worker is granted for another %v: the database was failed over, restored or reseeded (%s)\n",
			l.GateOpens.Round(time.Second), closedBy(l.GateBy))
	}
	return nil
}

// listingTable leaves out, for people, the columns that they seldom need.
func listingTable(l lease.Listing, ns namespace.Namespace, format listFormat) *table {
	t := newTable("worker", "state", "node", "reserved_until", "left_seconds", "free_in_seconds",
		"address", "renewed_at")
	if format.wide || format.json {
		t = newTable("worker", "kind", "state", "node", "reserved_until", "left_seconds", "free_in_seconds",
			"term", "address", "version", "acquired_at", "renewed_at")
	}
	for _, r := range l.Rows {
		var until, left any
		if r.ReservedUntil != nil && *r.ReservedUntil > 0 {
			until, left = ns.Layout.Time(*r.ReservedUntil), ahead(r.Left)
		}
		if format.wide || format.json {
			t.add(r.Worker, r.Kind, r.State, r.Node, until, left, ahead(r.Free), r.Term, r.Address, r.Version,
				instant(r.AcquiredAt), instant(r.RenewedAt))
		} else {
			t.add(r.Worker, r.State, r.Node, until, left, ahead(r.Free), r.Address, instant(r.RenewedAt))
		}
	}
	return t
}

// ahead rounds a duration up to seconds; 0 if it is over.
func ahead(d *time.Duration) any {
	if d == nil {
		return nil
	}
	return int64(max(0, *d+time.Second-1) / time.Second)
}

func instant(at *time.Time) any {
	if at == nil {
		return nil
	}
	return *at
}

// retireHint adds a hint to the refusal of a retirement.
func retireHint(err error) error {
	var refused *lease.RetireError
	switch {
	case !errors.As(err, &refused):
		return namespace.AsOwner(err)
	case refused.Kind == "": // there is no such worker
		return fault.WithKind(fault.Usage, refused)
	case refused.Kind == "proxy":
		return fault.WithHint(refused,
			"Stop that proxy first, or give --held: it finishes its grant and then takes another worker.")
	}
	return refused
}

func printRetired(w io.Writer, r lease.Retired, asJSON bool) error {
	if asJSON {
		t := newTable("worker", "already", "held", "node", "address", "left_seconds")
		t.add(r.Worker, r.Already, r.Held, r.Node, r.Address, ahead(&r.Left))
		return t.printOne(w)
	}
	switch {
	case r.Already:
		fmt.Fprintf(w, "worker %d was retired before; nothing changed\n", r.Worker)
	case r.Held:
		fmt.Fprintf(w, "worker %d is retired; node %q may issue IDs with it for another %d s at most, "+
			"then it takes another worker\n", r.Worker, r.Node, ahead(&r.Left))
	default:
		fmt.Fprintf(w, "worker %d is retired; RESERVED UNTIL stays\n", r.Worker)
	}
	return nil
}

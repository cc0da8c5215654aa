package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/backfill"
	"pgflurry/config"
	"pgflurry/connstring"
	"pgflurry/fault"
	"pgflurry/fresh"
	"pgflurry/hint"
	"pgflurry/lease"
	"pgflurry/namespace"
	"pgflurry/outcome"
)

// newBackfill is the command that gives rows IDs of the past.
func newBackfill() *cobra.Command {
	var url, home string
	var asJSON bool
	job := backfill.Job{Version: version()}
	cmd := &cobra.Command{
		Use:   "backfill TABLE",
		Short: "Give rows that are there already IDs of the time at which each was made",
		Long: `backfill fills a bigint column of a table with IDs whose time is that of another column, in its order.
It takes the rows in which the column is NULL, and fills all of them or none, in one transaction. They
are locked meanwhile. Partitions and children of the table belong to it.

An ID has the millisecond of its row, or in general the tick. A tick holds as many IDs as the layout
has sequence numbers, 4096 by default, or up to a quarter less if it begins empty. If more rows are of
one tick, the others get the next ticks. The output says how many rows that are, and how late the
latest is. --order names the column that decides between rows of one time.

Each run takes the past of one worker that was free until now: the time in which nobody has used it.
Nobody else ever gets that time, whatever becomes of the run. "pgflurry workers history" shows it.

backfill refuses, and changes nothing:
  - a row without a time, or with an infinite one
  - a row before the first ID: a day after the epoch of the layout
  - a row of the future, or so many rows of one time that their IDs would reach it
  - a row from before migrate up made the ID space, or before the server's last start, failover or
    restore. The worker table may not know who used which worker before that. --nothing-lost says
    that no write was lost, and that no earlier installation with this layout gave IDs then.

The role needs UPDATE on the table, TEMPORARY on the database, and the rights of a proxy
(pgflurry.grant_lease). A database that has joined needs --lease-database, its home.

--json prints an array with one object: table, rows, worker, first, last (times), moved (rows with an ID
of a later tick), latest_seconds.
` + jsonRules,
		Example: `  pgflurry backfill item --id new_id --time created_at --order id \
    --database postgres://app@localhost/shop`,
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			job.Table = args[0]
			for _, needed := range [][2]string{{"id", job.ID}, {"time", job.Time}} {
				if needed[1] == "" {
					return usageError(cmd, fmt.Errorf("--%s is missing: it names a column of the table", needed[0]))
				}
			}
			done, err := runBackfill(cmd.Context(), cmd.ErrOrStderr(), url, home, job)
			if err != nil {
				return err
			}
			return printBackfill(cmd.OutOrStdout(), done, asJSON)
		},
	}
	databaseFlag(cmd, &url)
	flags := cmd.Flags()
	flags.StringVar(&job.ID, "id", "", "the `COLUMN` to fill, a bigint; rows in which it is NULL get an ID")
	flags.StringVar(&job.Time, "time", "", "the `COLUMN` that says when a row was made")
	flags.StringVar(&job.Order, "order", "", "the `COLUMN` that decides between rows of one time (default: chance)")
	flags.StringVar(&job.Zone, "time-zone", "", "the `ZONE` of the times, for a column without one, such as UTC")
	flags.Int64Var(&job.AfterID, "after-id", 0,
		"refuse rows whose ID would not be above this `ID`, which another generator of the layout gave")
	flags.StringVar(&home, "lease-database", "",
		"`URL` of the home, whose worker table counts (default: --database): "+connstring.Form)
	describe(flags, config.Row{Name: "lease-database", Secret: true})
	flags.BoolVar(&job.NothingLost, "nothing-lost", false,
		"you vouch that the worker table knows all IDs of the time of the rows")
	asksConsent(cmd, "nothing-lost")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// runBackfill connects to the database of the table and to the home. It warns of a server that is not known.
func runBackfill(ctx context.Context, warn io.Writer, url, home string, job backfill.Job) (backfill.Done, error) {
	config, err := connstring.Parse("database", url)
	if err != nil {
		return backfill.Done{}, err
	}
	leases := config
	if home != "" {
		if leases, err = connstring.Parse("lease-database", home); err != nil {
			return backfill.Done{}, err
		}
	}
	conn, err := connect(ctx, config)
	if err != nil {
		return backfill.Done{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	ns, err := namespace.Read(ctx, conn)
	if err != nil {
		return backfill.Done{}, err
	}
	if err := original(warn, ns); err != nil {
		return backfill.Done{}, err
	}
	if ns.Home != "" && home == "" {
		return backfill.Done{}, outcome.As(outcome.Usage, hint.With(
			fmt.Errorf("database %q has no worker rows: those of its namespace are in %s", ns.Database, ns.Home),
			"Add --lease-database with the URL of that database."))
	}
	if err := ns.Serves(); err != nil {
		return backfill.Done{}, err
	}
	if home != "" {
		if err := originalHome(ctx, warn, leases); err != nil {
			return backfill.Done{}, err
		}
	}
	store := lease.NewPostgres(&leases.Config, fresh.Rules{})
	defer store.Close()
	return backfill.Run(ctx, conn, ns, lessee{store, leases.User}, job)
}

// original refuses a copy, and warns of one that may be undeclared.
func original(warn io.Writer, ns namespace.Namespace) error {
	if why, copied := ns.Copied(); copied {
		return outcome.As(outcome.NotInPlace, hint.With(errors.New(why),
			`Its tables may get IDs that those of the original get. "pgflurry migrate up" says what it can become.`))
	}
	if ns.NewServer != "" {
		fmt.Fprintf(warn, "warning: %s\nhint: %s\n", ns.NewServer, fault.NewServer.Hint)
	}
	return nil
}

// originalHome is original for the home. The statement that takes a past does not know by which address it came.
func originalHome(ctx context.Context, warn io.Writer, home *pgx.ConnConfig) error {
	conn, err := connect(ctx, home)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	ns, err := namespace.Read(ctx, conn)
	if err != nil {
		return namespace.AsLessee(err, home.User)
	}
	return original(warn, ns)
}

// A lessee takes pasts with a role. If that may not, the error says what to grant.
type lessee struct {
	store *lease.Postgres
	role  string
}

func (l lessee) AcquirePast(ctx context.Context, r lease.PastRequest) (lease.Grant, error) {
	grant, err := l.store.AcquirePast(ctx, r)
	return grant, namespace.AsLessee(err, l.role)
}

func printBackfill(w io.Writer, done backfill.Done, asJSON bool) error {
	if asJSON {
		t := newTable("table", "rows", "worker", "first", "last", "moved", "latest_seconds")
		if done.Rows == 0 {
			t.add(done.Table, 0, nil, nil, nil, 0, 0)
		} else {
			t.add(done.Table, done.Rows, done.Worker, done.First, done.Last, done.Moved, done.Latest.Seconds())
		}
		return t.print(w, true)
	}
	if done.Rows == 0 {
		fmt.Fprintf(w, "no row of %s lacks an ID; nothing was changed\n", done.Table)
		return nil
	}
	fmt.Fprintf(w, "%d rows of %s have IDs of worker %d, from %s to %s\n",
		done.Rows, done.Table, done.Worker, timestamp(done.First), timestamp(done.Last))
	if done.Moved > 0 {
		fmt.Fprintf(w, "%d of them are of a later tick than their row, by up to %v: their own was full\n",
			done.Moved, done.Latest)
	}
	return nil
}

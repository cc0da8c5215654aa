package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/config"
	"pgflurry/connstring"
	"pgflurry/partition"
)

// mostUnits limits --ahead and --keep: more is a slip of the finger.
const mostUnits = 10_000

// newPartition builds "pgflurry partition".
func newPartition() *cobra.Command {
	var url string
	var print, yes bool
	s := partition.Settings{}
	cmd := &cobra.Command{
		Use:   "partition TABLE",
		Short: "Make the next partitions of a table whose key is an ID, and drop old ones",
		Long: `partition keeps the partitions of a table that is partitioned by RANGE of its ID. Run it from cron,
often enough that --ahead never runs out.

  - It makes partitions for the current unit and those ahead. Each begins where the one before it
    ends, so no ID is without a partition.
  - With --keep it drops partitions that ended before so many units. That needs --yes: without it
    everything else is done, and the command fails before the first drop.

Writers never wait for the table. A partition is made beside it, and attached. An old one is detached
with DETACH CONCURRENTLY, and then dropped. Foreign keys lock the other table for a moment, and wait for
it at most for --lock-timeout. The command stops at the first error. Run it again: it goes on where it
stopped.

The first partition begins with MINVALUE, for keys that are older than IDs. It is never dropped, nor is
any other that may hold such keys. Foreign tables and partitions with partitions of their own are not
dropped either.

Units begin in the time zone of --zone. Another zone later leaves no hole: one partition is then shorter
or longer.

--print changes nothing. It prints the statements, for psql -v ON_ERROR_STOP=1. docs/partitions.md has the
locks, an example for cron, and which queries read one partition only.

A run needs the owner of the table, and a session of its own: PostgreSQL itself, or pgflurry, but no pooler.`,
		Example: `  pgflurry partition event --database postgres://app@db/shop --every month --ahead 3
  pgflurry partition event --database postgres://app@db/shop --every month --keep 12 --print
  pgflurry partition event --database postgres://app@db/shop --every month --keep 12 --yes`,
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Table = args[0]
			if err := partitionable(cmd, s); err != nil {
				return err
			}
			config, err := connstring.Parse("database", url)
			if err != nil {
				return err
			}
			if config.ConnectTimeout == 0 {
				config.ConnectTimeout = 10 * time.Second
			}
			ctx := cmd.Context()
			conn, err := connect(ctx, config)
			if err != nil {
				return err
			}
			defer leave(ctx, conn)
			facts, err := partition.Look(ctx, conn, s, !print)
			if err != nil {
				return err
			}
			plan := facts.Plan()
			if print {
				return plan.Print(cmd.OutOrStdout())
			}
			return runPlan(cmd, partition.Runner{Conn: conn, Drop: yes}, plan)
		},
	}
	databaseFlag(cmd, &url)
	flags := cmd.Flags()
	flags.StringVar(&s.Every, "every", "", "`unit` of time that a partition has: "+strings.Join(partition.Units, ", "))
	describe(flags, config.Row{Name: "every", Enum: partition.Units})
	flags.IntVar(&s.Ahead, "ahead", 3, "`number` of units ahead that have partitions, after the current one")
	flags.IntVar(&s.Keep, "keep", 0, "`number` of units that stay, before the current one; 0: all")
	flags.StringVar(&s.Zone, "zone", "UTC", "time `zone` in which units begin, such as Europe/Berlin")
	flags.DurationVar(&s.Patience, "lock-timeout", 500*time.Millisecond, "how long to wait for each lock")
	flags.BoolVar(&print, "print", false, "print the statements, and change nothing")
	flags.BoolVar(&yes, "yes", false, "drop what is older than --keep, with all its rows")
	asksConsent(cmd, "yes")
	return cmd
}

// leave ends a session. After a signal it lets pgx cancel the statement that waits in the server, for a moment.
func leave(ctx context.Context, conn *pgx.Conn) {
	_ = conn.Close(context.WithoutCancel(ctx))
	select {
	case <-conn.PgConn().CleanupDone():
	case <-time.After(2 * time.Second):
	}
}

// partitionable refuses values that no partition can have.
func partitionable(cmd *cobra.Command, s partition.Settings) error {
	switch {
	case s.Every == "":
		return usageError(cmd, fmt.Errorf("--every is missing; expected one of %s",
			strings.Join(partition.Units, ", ")))
	case !slices.Contains(partition.Units, s.Every):
		return usageError(cmd, fmt.Errorf("--every is %s; expected one of %s",
			connstring.Shown(s.Every), strings.Join(partition.Units, ", ")))
	case s.Ahead < 1 || s.Ahead > mostUnits:
		return usageError(cmd, fmt.Errorf("--ahead is %d; expected 1 to %d", s.Ahead, mostUnits))
	case s.Keep < 0 || s.Keep > mostUnits:
		return usageError(cmd, fmt.Errorf("--keep is %d; expected 0 to %d", s.Keep, mostUnits))
	case s.Patience < time.Millisecond:
		return usageError(cmd, fmt.Errorf("--lock-timeout is %v; expected 1ms or more", s.Patience))
	}
	return nil
}

// runPlan runs a plan, and reports each step when it is done.
func runPlan(cmd *cobra.Command, r partition.Runner, plan partition.Plan) error {
	out := cmd.OutOrStdout()
	r.Done = func(step partition.Step) { fmt.Fprintf(out, "done: %s\n", step.Says) }
	for _, note := range plan.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
	}
	if err := r.Run(cmd.Context(), plan); err != nil {
		return err
	}
	_, err := io.WriteString(out, "there are partitions until "+plan.Reach+"\n")
	return err
}

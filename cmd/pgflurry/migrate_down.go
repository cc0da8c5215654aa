package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/migrations"
)

func newMigrateDown() *cobra.Command {
	var url string
	var leaveJoined, wait bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Remove everything that up made, or nothing",
		Long: `down removes the functions, the workers, the namespace and schema pgflurry in one transaction. Nothing
is removed with CASCADE. down refuses, and names all that is in the way:
  - while IDs may be ahead of the database's clock
  - while a default, a view or a function uses next_snowflake()
  - while counters, tickets, tags, tokens or locks are in use: it says which tables hold such rows
  - in a database that others have joined

After the last proxy has ended, IDs are ahead of the clock for a window and a quarantine. That takes
three minutes, or two hours with windows of an hour. With --wait, down waits for that, and says how long
it still takes. Ctrl-C ends the wait with nothing removed.

If somebody has dropped schema pgflurry with CASCADE, PostgreSQL has left next_snowflake() and its kin in
public. down removes them, and says so.

docs/moving.md has all statements, in their order, under Leaving.

Without the home nobody knows which workers the joined databases have. --leave-joined removes pgflurry
all the same. They go on with their workers. A namespace made here later is another ID space than theirs;
but a region would be the same one. So make it again by "pgflurry namespace move --region", never by join.

In a database that has joined another one, its worker there stays taken. A copy of this database may
still issue IDs with it, and down cannot see that. To join again takes another of the
--database-workers of the namespace.`,
		Example: `  pgflurry migrate down --database postgres://app@localhost/shop
  pgflurry migrate down --database postgres://app@localhost/shop --wait`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			shown := showProgress(cmd)
			defer shown.end()
			var onWait func(*migrations.RestError)
			if wait {
				onWait = waiting(cmd.ErrOrStderr(), shown)
			}
			say := func(sentence string) { _, _ = fmt.Fprintln(cmd.OutOrStdout(), sentence) }
			removed, err := migrations.DownSaying(cmd.Context(), url, leaveJoined, say, onWait)
			if err != nil {
				return connect.Explain(err)
			}
			said := "pgflurry is removed from this database"
			if !removed {
				said = "there is nothing to remove: this database has no schema pgflurry"
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&leaveJoined, "leave-joined", false, "also where other databases have joined the namespace")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait while IDs may be ahead of the database's clock, until Ctrl-C")
	return cmd
}

// waiting says what a Down waits for, and how long.
func waiting(out io.Writer, shown *progress) func(*migrations.RestError) {
	first := true
	return func(r *migrations.RestError) {
		if first {
			fmt.Fprintln(out, "IDs may be ahead of the database's clock. Stop all proxies of the namespace "+
				"and whatever calls next_snowflake(): each call makes it take longer.")
			fmt.Fprintf(out, "waiting for %s\n", strings.Join(r.Lines, ", "))
			first = false
		}
		shown.left("waiting for the marks", r.Left)
	}
}

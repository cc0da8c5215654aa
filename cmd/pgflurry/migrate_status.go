package main

import (
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/migrations"
)

func newMigrateStatus() *cobra.Command {
	var url string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is applied and what is not, and what the namespace is",
		Long: `status lists the migrations, the functions that are not as this version installs them, and the
namespace. It changes nothing. To compare the functions it needs the rights of up.

Exit codes:
  0  everything is in place
  1  the functions could not be compared
  3  anything is pending, missing or changed; or the database is closed; or it is a copy, and nobody
     has said what it shall be

--json prints one object:
  in_place, database
  migrations                    each: number, name, applied_at
  functions_in_public           snowflake or all; null: none yet
  functions                     that differ; each: name, state (missing, changed or foreign)
  functions_unchecked           why they could not be compared
  kept                          functions that are not pgflurry's; each: name, other
  joined                        each: database, worker, address, claimed_at
  roles_that_may_set_sequences
  unreadable_sequences
  weak_guards                   which are missing or do not hold in every session; null: none
  locks_that_are_no_views
  namespace                     null, or: id, copied (why), home, disposable, layout, epoch,
                                unit_seconds, region, last_id_at, left_seconds, workers,
                                lowest_worker, database_workers, function_worker,
                                foreign_workers (each: from, to),
                                max_window_seconds, skew_seconds, quarantine_seconds,
                                closed, gate_opens_in_seconds,
                                gate_closed_by (the last time), restart_quarantine_seconds,
                                settles_in_seconds (after a start of the server), joins_closed,
                                new_server (why the server is not known; null: it is),
                                on_new_server (warn or refuse), answer_elsewhere (where proxies
                                do that may be those of the original)
` + jsonRules,
		Example: `  pgflurry migrate status --database postgres://app@localhost/shop
  pgflurry migrate status --database postgres://app@localhost/shop --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := migrations.Status(cmd.Context(), url)
			if err != nil {
				return connect.Explain(err)
			}
			if asJSON {
				err = printStateJSON(cmd.OutOrStdout(), state)
			} else {
				err = printState(cmd.OutOrStdout(), state, url)
			}
			if err != nil {
				return err
			}
			return inPlace(state, url)
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

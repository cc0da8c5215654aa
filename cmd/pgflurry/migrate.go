package main

import "github.com/spf13/cobra"

// newMigrate is the command that installs, checks, prints and removes what pgflurry needs in a database.
func newMigrate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Make, check, print or remove what pgflurry needs in a database",
		Long: `migrate installs, checks and removes what pgflurry needs in a database. Schema pgflurry has the
namespace, the workers, and the functions of the other ways to make an ID. Schema public has the SQL
functions next_snowflake(), next_snowflakes(n), snowflake_time(id) and their kin. "pgflurry namespace set
--functions all" gives the others, such as pgflurry.incr(key), short names in public, too.

migrate never overwrites or drops a function of your own in public. If yours has the name of
next_snowflake() or its kin, up refuses. If yours has another name of pgflurry's, up makes only the
function with the schema. Then up and status say "kept".

It needs PostgreSQL 15 or newer, and the right to create in the database and in schema public. It needs
no superuser. Connect to the server itself or through a pooler in session mode.`,
		Args: cobra.NoArgs, // so that a misspelled subcommand is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMigrateUp(), newMigrateDown(), newMigrateStatus(), newMigratePrint())
	return cmd
}

package main

import (
	"github.com/spf13/cobra"

	"pgflurry/migrations"
)

func newMigratePrint() *cobra.Command {
	var layout layoutFlags
	var space string
	var escaped bool
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Write the SQL of up as one statement, for your own migration tool",
		Long: `print writes what up does as one statement of SQL, for a migration of your own tool. PostgreSQL runs it
whole or not at all. If pgflurry is there already, the statement adds what is missing. So the print of
a later version is the upgrade. docs/test-databases.md shows how each tool takes it.`,
		Example: `  pgflurry migrate print | psql -v ON_ERROR_STOP=1 shop
  pgflurry migrate print --layout javascript > 0007_pgflurry.sql`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := layout.settings()
			if err != nil {
				return err
			}
			if err := takeSpace(&settings, space); err != nil {
				return err
			}
			settings.Version = version()
			print := migrations.Print
			if escaped {
				print = migrations.PrintEscaped
			}
			return print(cmd.OutOrStdout(), settings)
		},
	}
	layout.register(cmd.Flags())
	cmd.Flags().StringVar(&space, "namespace", "", "`FINGERPRINT` of the ID space that --region belongs to, if it "+
		"exists (default that of a new one)")
	cmd.Flags().BoolVar(&escaped, "escaped", false, "write the block as one string without semicolons, quotes and "+
		"comments, for tools\nthat split scripts at each semicolon")
	return cmd
}

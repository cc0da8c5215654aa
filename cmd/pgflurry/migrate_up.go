package main

import (
	"github.com/spf13/cobra"
)

func newMigrateUp() *cobra.Command {
	var url string
	var layout layoutFlags
	var after []string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Make or complete what pgflurry needs; safe to run again, also several at once",
		Long: `up creates schema pgflurry, the namespace row, all worker rows and the SQL functions. Run again it
goes on where it stopped, and repairs functions.

An empty database becomes the home of a new ID space. The flags below fix it for good, and cannot change
it later. To share the ID space of another database, run "pgflurry namespace join" instead. In a copy of
a database up refuses, and prints the commands that fit it.

--foreign-workers 0-31,991 keeps workers for another generator of the same layout, such as a Snowflake
library in the application. --after-id refuses a layout, an epoch or a clock by which the first ID would
not be above its IDs. Of a column up reads the highest ID, as its own role. It sees no rows that were
deleted or are not committed, and no tables of other databases.

A role that is to run "pgflurry serve" without owning the schema needs, in each database:
  CALL pgflurry.grant_lease('role');`,
		Example: `  pgflurry migrate up --database postgres://app@localhost/shop
  pgflurry migrate up --database postgres://app@localhost/shop --layout datacenter --region 0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := layout.settings()
			if err != nil {
				return err
			}
			for _, one := range after {
				settings.After(one)
			}
			return bring(cmd, url, settings, nil)
		},
	}
	databaseFlag(cmd, &url)
	layout.register(cmd.Flags())
	afterFlag(cmd, &after)
	return cmd
}

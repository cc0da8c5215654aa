package main

import (
	"github.com/spf13/cobra"

	"pgflurry/migrations"
)

func newNamespaceSeparate() *cobra.Command {
	var url string
	var afterID int64
	s := migrations.Settings{NewNamespace: true}
	cmd := &cobra.Command{
		Use:   "separate",
		Short: "Make a copy an ID space of its own",
		Long: `separate makes a copy of a database an ID space of its own: for staging, tests or analysis. Its IDs may
then equal later ones of the original, so the two must never be put together again.

It begins above every ID that the copy can hold. If the copy had joined another database, or others had
joined it, separate reads the columns whose default is next_snowflake(). If IDs are in other columns, and
a clock of the old space once stood ahead, say the highest one: --after-id. No proxy gets a worker before
its time.

A copy of the files of a server (base backup, snapshot, clone of a machine) looks like its original. Say
--copy on the copy, and on no other.`,
		Example: `  pgflurry namespace separate --database postgres://app@staging/shop`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("after-id") {
				s.AfterID = &afterID
			}
			return bring(cmd, url, s, func(state migrations.State) []string {
				return []string{"this database is an ID space of its own now: namespace " + state.Namespace.ID}
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&s.Copy, "copy", false,
		"this is a copy although it looks original, and the original lives on")
	cmd.Flags().Int64Var(&afterID, "after-id", 0, "the highest `ID` that the copy holds; no new one is below it")
	asksConsent(cmd, "copy", "after-id")
	return cmd
}

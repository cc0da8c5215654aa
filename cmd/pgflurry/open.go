package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/migrations"
	"pgflurry/namespace"
	"pgflurry/outcome"
)

func newOpen() *cobra.Command {
	var url string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open a closed database again, if no copy has taken its place",
		Long: `open takes "pgflurry close" back. The function draws again, above all its IDs. No proxy gets a worker for
the length of the quarantine, 120 s by default.

With --yes you confirm that no copy has taken the place of this database: no "migrate up --moved" was
run on one. Otherwise both give the same IDs. Nothing here can see that.

open refuses if the row is not the one that was closed: the database was restored since.

--json prints the object of "pgflurry close --json".`,
		Example: `  pgflurry open --database postgres://app@blue/shop --yes`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := connstring.Parse("database", url); err != nil {
				return err
			}
			if !yes {
				return outcome.As(outcome.Usage, hint.With(errors.New("--yes is missing: nothing was changed"),
					"With it you confirm that no copy has taken the place of this database."))
			}
			was, c, err := migrations.Reopen(cmd.Context(), url)
			if err != nil {
				return connstring.Explain(namespace.AsOwner(err))
			}
			if asJSON {
				return printClosingJSON(cmd.OutOrStdout(), c)
			}
			return printOpened(cmd.OutOrStdout(), was, c)
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&yes, "yes", false, "no copy has taken the place of this database")
	asksConsent(cmd, "yes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printOpened(w io.Writer, was bool, c migrations.Closing) error {
	text := fmt.Sprintf("database %q is open, at generation %d: next_snowflake() draws", c.Database, c.Generation)
	switch {
	case !was:
		text = fmt.Sprintf("database %q is not closed; nothing was changed", c.Database)
	case c.Home == "":
		text += fmt.Sprintf("; no proxy gets a worker for %v", c.Quarantine)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

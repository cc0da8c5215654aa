package main

import (
	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
)

// asksConsent marks flags that consent to something dangerous. A person consents to one command. In the environment or
// in a file, the consent would hold for every later command, too.
func asksConsent(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		source.Describe(cmd.Flags(), config.Row{Name: name, CommandLineOnly: "consents to something"})
	}
}

// databaseFlag adds --database, which is required: no command may guess which database to change. It is checked before
// the command runs.
func databaseFlag(cmd *cobra.Command, url *string) {
	cmd.PreRunE = func(*cobra.Command, []string) error {
		_, err := connect.Parse("database", *url)
		return err
	}
	cmd.Flags().StringVar(url, "database", "", "`URL` of the database: "+connect.Form)
	source.Describe(cmd.Flags(), config.Row{Name: "database", Secret: true})
}

// homeFlag adds --home, the URL of another database.
func homeFlag(cmd *cobra.Command, home *string, usage string) {
	cmd.Flags().StringVar(home, "home", "", usage)
	source.Describe(cmd.Flags(), config.Row{Name: "home", Secret: true})
}

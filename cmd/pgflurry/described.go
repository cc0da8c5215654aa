package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
)

// The facts of a row travel with its flag, as annotations. All else asks the flag.
const (
	factGroup           = "pgflurry_group"             // heading in the help
	factReloads         = "pgflurry_reloads"           // what a SIGHUP changes: reloadsValue or reloadsPassword
	factSecret          = "pgflurry_secret"            // may hold a password
	factPath            = "pgflurry_path"              // the value is a file or a folder
	factEnum            = "pgflurry_enum"              // values that a shell offers
	factNumber          = "pgflurry_number"            // a text that TOML may write as a number
	factCommandLineOnly = "pgflurry_command_line_only" // why only the command line may give it
)

const (
	reloadsValue    = "value"
	reloadsPassword = "password"
)

// describe adds the facts of a row to its flag. Flags of other commands than serve have rows of their facts alone.
func describe(flags *pflag.FlagSet, r config.Row) {
	for key, values := range map[string][]string{
		factGroup: {r.Group}, factCommandLineOnly: {r.CommandLineOnly}, factEnum: r.Enum,
		factSecret: {is(r.Secret)}, factPath: {is(r.File)}, factNumber: {is(r.Number)},
		factReloads: {map[config.Reload]string{
			config.Reloads: reloadsValue, config.ReloadsPassword: reloadsPassword,
		}[r.Reload]},
	} {
		if len(values) == 0 || values[0] == "" {
			continue
		}
		if err := flags.SetAnnotation(r.Name, key, values); err != nil {
			panic(err) // the command has no such flag
		}
	}
}

func is(fact bool) string {
	if fact {
		return "is"
	}
	return ""
}

// asksConsent marks flags that consent to something dangerous. A person consents to one command. In the environment or
// in a file, the consent would hold for every later command, too.
func asksConsent(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		describe(cmd.Flags(), config.Row{Name: name, CommandLineOnly: "consents to something"})
	}
}

// has says whether a flag has a fact.
func has(f *pflag.Flag, fact string) bool { return f.Annotations[fact] != nil }

// isOneOf says whether a value is one of those that the row of a flag lists.
func isOneOf(f *pflag.Flag, value string) bool {
	return slices.Contains(f.Annotations[factEnum], value)
}

// databaseFlag adds --database, which is required: no command may guess which database to change.
func databaseFlag(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "database", "", "`URL` of the database: "+connect.Form)
	describe(cmd.Flags(), config.Row{Name: "database", Secret: true})
}

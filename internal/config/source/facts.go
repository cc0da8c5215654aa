package source

import (
	"slices"

	"github.com/spf13/pflag"

	"pgflurry/internal/config"
)

// The facts of a row travel with its flag, as annotations. All else asks the flag.
const (
	Group           = "pgflurry_group"             // heading in the help
	ReloadsAt       = "pgflurry_reloads"           // what a SIGHUP changes: ReloadsValue or ReloadsPassword
	Secret          = "pgflurry_secret"            // may hold a password
	Path            = "pgflurry_path"              // the value is a file or a folder
	Enum            = "pgflurry_enum"              // values that a shell offers
	Number          = "pgflurry_number"            // a text that TOML may write as a number
	CommandLineOnly = "pgflurry_command_line_only" // why only the command line may give it
)

// What a SIGHUP changes.
const (
	ReloadsValue    = "value"
	ReloadsPassword = "password"
)

// Describe adds the facts of a row to its flag. Flags of other commands than serve have rows of their facts alone.
func Describe(flags *pflag.FlagSet, r config.Row) {
	for key, values := range map[string][]string{
		Group: {r.Group}, CommandLineOnly: {r.CommandLineOnly}, Enum: r.Enum,
		Secret: {is(r.Secret)}, Path: {is(r.File)}, Number: {is(r.Number)},
		ReloadsAt: {map[config.Reload]string{
			config.Reloads: ReloadsValue, config.ReloadsPassword: ReloadsPassword,
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

// Has says whether a flag has a fact.
func Has(f *pflag.Flag, fact string) bool { return f.Annotations[fact] != nil }

// isOneOf says whether a value is one of those that the row of a flag lists.
func isOneOf(f *pflag.Flag, value string) bool {
	return slices.Contains(f.Annotations[Enum], value)
}

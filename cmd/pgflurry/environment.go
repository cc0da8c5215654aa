package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/outcome"
)

// variablePrefix begins every environment variable of the program.
const variablePrefix = "PGFLURRY_"

// foreignVariables begin with the prefix and are not ours: those of the tests, and those that Kubernetes makes for a
// service of the name pgflurry.
var foreignVariables = []string{"PGFLURRY_TEST_", "PGFLURRY_SERVICE_", "PGFLURRY_PORT"}

// consent is the annotation of a flag that the environment cannot give.
const consent = "pgflurry_consent"

// asksConsent marks flags that say yes to something dangerous. A yes is given once, for one command, and by a person:
// in the environment it would stay, and speak for every later command too.
func asksConsent(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.Flags().SetAnnotation(name, consent, []string{"true"}); err != nil {
			panic(err) // the command has no such flag
		}
	}
}

// variable is the name of the environment variable of a flag.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment sets each flag of cmd that the command line left alone from its variable, and warns of variables that
// no command knows. environ is as os.Environ gives it.
func readEnvironment(cmd *cobra.Command, environ []string) error {
	given := make(map[string]string)
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, variablePrefix) {
			given[name] = value
		}
	}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, is := given[variable(f.Name)]
		if !is || f.Changed || failed != nil || ownFlag(f) {
			return
		}
		if f.Annotations[consent] != nil {
			failed = hint.With(fmt.Errorf("environment variable %s is set, "+
				"but --%s consents to something and is taken from the command line only", variable(f.Name), f.Name),
				fmt.Sprintf("Unset it, and give --%s on the command line of the one command it is meant for.", f.Name))
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s is %s, which --%s does not take: %w",
				variable(f.Name), connstring.Shown(value), f.Name, unquoted(err))
		}
	})
	warnOfUnknown(cmd, given)
	return outcome.As(outcome.Usage, failed)
}

// ownFlag says whether a flag is one of those that cobra adds to every command.
func ownFlag(f *pflag.Flag) bool { return f.Name == "help" || f.Name == "version" }

// warnOfUnknown names variables that are the flag of no command. One that belongs to another command is no mistake: one
// environment serves several commands.
func warnOfUnknown(cmd *cobra.Command, given map[string]string) {
	known := make(map[string]bool)
	addVariables(cmd.Root(), known)
	var unknown []string
	for name := range given {
		foreign := slices.ContainsFunc(foreignVariables, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if !known[name] && !foreign {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: environment variable %s is the flag of no command and means nothing\n",
			name)
	}
}

func addVariables(cmd *cobra.Command, known map[string]bool) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !ownFlag(f) {
			known[variable(f.Name)] = true
		}
	})
	for _, sub := range cmd.Commands() {
		addVariables(sub, known)
	}
}

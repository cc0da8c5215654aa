package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/hint"
)

// variablePrefix begins every environment variable of the program.
const variablePrefix = "PGFLURRY_"

// foreignVariables begin with the prefix and are not ours: those of the tests, and those that Kubernetes makes for a
// service of the name pgflurry.
var foreignVariables = []string{"PGFLURRY_TEST_", "PGFLURRY_SERVICE_", "PGFLURRY_PORT"}

// commandLineOnly is the annotation of a flag that nothing but the command line can give; its value says why.
const commandLineOnly = "pgflurry_command_line_only"

// asksConsent marks flags that say yes to something dangerous. A yes is given once, for one command, and by a person:
// in the environment or in a file it would stay, and speak for every later command too.
func asksConsent(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		annotate(cmd.Flags(), name, commandLineOnly, "consents to something")
	}
}

// annotate notes something about a flag.
func annotate(flags *pflag.FlagSet, name, key, value string) {
	if err := flags.SetAnnotation(name, key, []string{value}); err != nil {
		panic(err) // the command has no such flag
	}
}

// noConsent is the error of a place that gives what only the command line can; nil for other flags.
func noConsent(f *pflag.Flag, origin string) error {
	why := f.Annotations[commandLineOnly]
	if why == nil {
		return nil
	}
	return hint.With(fmt.Errorf("%s is set, but --%s %s and is taken from the command line only",
		origin, f.Name, why[0]),
		fmt.Sprintf("Remove it, and give --%s on the command line of the one command it is meant for.", f.Name))
}

// saysNothing is the error of a flag without the word that it asks for, as a script gives it whose variable is not set.
// To go on as if it were not there could make an ID space that nobody asked for.
func saysNothing(f *pflag.Flag) error {
	kind, _ := pflag.UnquoteUsage(f)
	return hint.With(fmt.Errorf("--%s is empty; expected %s", f.Name, kind),
		fmt.Sprintf("Is a variable of your script not set? Without a value leave --%s out.", f.Name))
}

// variable is the name of the environment variable of a flag.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment sets each flag of cmd that the command line left alone from its variable, and warns of variables that
// no command knows. environ is as os.Environ gives it.
func readEnvironment(cmd *cobra.Command, environ []string) error {
	warnOfUnknown(cmd.Root(), environ, cmd.ErrOrStderr())
	return configure(cmd.Flags(), environ).err()
}

// ourVariables are those of an environment that begin with the prefix.
func ourVariables(environ []string) map[string]string {
	ours := make(map[string]string)
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, variablePrefix) {
			ours[name] = value
		}
	}
	return ours
}

// environment is what the variables have for flags that the command line left alone.
func (c *configuration) environment(environ []string) place {
	ours, values := ourVariables(environ), make(place)
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || ownFlag(f) {
			return
		}
		name := variable(f.Name)
		origin := "environment variable " + name
		text, is := ours[name]
		file, inFile := ours[name+variableOfFile]
		inFile = inFile && isSecret(f)
		switch err := noConsent(f, origin); {
		case is && err != nil:
			c.refuse(f.Name, err)
		case is && inFile:
			c.refuse(f.Name, twice(origin, origin+variableOfFile))
		case is:
			values[f.Name] = given{values: []string{text}, origin: origin}
		case inFile:
			c.secret(values, f, file, origin+variableOfFile)
		}
	})
	return values
}

// ownFlag says whether a flag is one of those that cobra adds to every command.
func ownFlag(f *pflag.Flag) bool { return f.Name == "help" || f.Name == "version" }

// warnOfUnknown names variables that are the flag of no command of root. One that belongs to another command is no
// mistake: one environment serves several commands.
func warnOfUnknown(root *cobra.Command, environ []string, w io.Writer) {
	known := make(map[string]bool)
	addVariables(root, known)
	var unknown []string
	for name := range ourVariables(environ) {
		foreign := slices.ContainsFunc(foreignVariables, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if !known[name] && !foreign {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		fmt.Fprintf(w, "warning: environment variable %s is the flag of no command and means nothing\n", name)
	}
}

func addVariables(cmd *cobra.Command, known map[string]bool) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !ownFlag(f) {
			known[variable(f.Name)] = true
			known[variable(f.Name)+variableOfFile] = known[variable(f.Name)+variableOfFile] || isSecret(f)
		}
	})
	for _, sub := range cmd.Commands() {
		addVariables(sub, known)
	}
}

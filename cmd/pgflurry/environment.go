package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/fault"
)

// variablePrefix is the prefix of every environment variable of the program.
const variablePrefix = "PGFLURRY_"

// foreignVariables have the prefix but are not flags. The tests use some, and Kubernetes makes the others for a service
// named pgflurry.
var foreignVariables = []string{"PGFLURRY_TEST_", "PGFLURRY_SERVICE_", "PGFLURRY_PORT"}

// noConsent is the error if the environment or a file sets a flag that only the command line may give; nil for other
// flags.
func noConsent(f *pflag.Flag, origin string) error {
	why := f.Annotations[factCommandLineOnly]
	if why == nil {
		return nil
	}
	return fault.WithHint(fmt.Errorf("%s is set, but --%s %s and is taken from the command line only",
		origin, f.Name, why[0]),
		fmt.Sprintf("Remove it, and give --%s on the command line of the one command it is meant for.", f.Name))
}

// saysNothing is the error of a flag with an empty value, as a script gives it when a variable is not set. To ignore
// such a flag could make an ID space that nobody asked for.
func saysNothing(f *pflag.Flag) error {
	kind, _ := pflag.UnquoteUsage(f)
	return fault.WithHint(fmt.Errorf("--%s is empty; expected %s", f.Name, kind),
		fmt.Sprintf("Is a variable of your script not set? Without a value leave --%s out.", f.Name))
}

// variable is the name of the environment variable of a flag.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment sets the flags of cmd that the command line does not give. It warns of variables that no command
// knows. environ is in the format of os.Environ.
func readEnvironment(cmd *cobra.Command, environ []string) error {
	warnOfUnknown(cmd.Root(), environ, cmd.ErrOrStderr())
	return configure(cmd.Flags(), environ).err()
}

// ourVariables are those of the environment that have the prefix.
func ourVariables(environ []string) map[string]string {
	ours := make(map[string]string)
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, variablePrefix) {
			ours[name] = value
		}
	}
	return ours
}

// environment reads the values of flags that the command line does not give.
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
		inFile = inFile && has(f, factSecret)
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

// ownFlag says whether cobra has added the flag.
func ownFlag(f *pflag.Flag) bool { return f.Name == "help" || f.Name == "version" }

// warnOfUnknown warns of variables that belong to no flag of any command. A variable of another command is no mistake:
// several commands may share one environment.
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
			known[variable(f.Name)+variableOfFile] = known[variable(f.Name)+variableOfFile] || has(f, factSecret)
		}
	})
	for _, sub := range cmd.Commands() {
		addVariables(sub, known)
	}
}

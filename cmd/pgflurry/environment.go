package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/config/source"
)

// foreignVariables have the prefix but are not flags. The tests use some, and Kubernetes makes the others for a service
// named pgflurry.
var foreignVariables = []string{"PGFLURRY_TEST_", "PGFLURRY_SERVICE_", "PGFLURRY_PORT"}

// readEnvironment sets the flags of cmd that the command line does not give. It warns of variables that no command
// knows. environ is in the format of os.Environ.
func readEnvironment(cmd *cobra.Command, environ []string) error {
	warnOfUnknown(cmd.Root(), environ, cmd.ErrOrStderr())
	return source.Read(cmd.Flags(), environ).Err()
}

// warnOfUnknown warns of variables that belong to no flag of any command. A variable of another command is no mistake:
// several commands may share one environment.
func warnOfUnknown(root *cobra.Command, environ []string, w io.Writer) {
	known := make(map[string]bool)
	addVariables(root, known)
	var unknown []string
	for name := range source.Variables(environ) {
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
		if !source.OwnFlag(f) {
			known[source.Variable(f.Name)] = true
			file := source.Variable(f.Name) + source.VariableOfFile
			known[file] = known[file] || source.Has(f, source.Secret)
		}
	})
	for _, sub := range cmd.Commands() {
		addVariables(sub, known)
	}
}

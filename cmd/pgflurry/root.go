package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot builds the command tree. Each subcommand lives in the file of its name.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pgflurry",
		Short: "Cluster-unique, time-ordered 64-bit IDs for any PostgreSQL client",
		Long: `pgflurry answers SELECT next_snowflake() from memory, in front of PostgreSQL, and installs
the same function inside PostgreSQL, so that DEFAULT next_snowflake() works with and without
the proxy. Both draw from one ID space.

Every flag can also be given as an environment variable: --lease-database is PGFLURRY_LEASE_DATABASE.
A flag on the command line wins over the environment.`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return flagsFromEnvironment(cmd.Flags(), os.LookupEnv) },
	}
	root.AddCommand(newServe())
	root.AddCommand(newDemo())
	root.AddCommand(newHealth())
	root.AddCommand(newMigrate())
	root.AddCommand(newWorkers())
	root.AddCommand(newDecode())
	return root
}

// flagsFromEnvironment sets each flag that the command line left alone from its variable PGFLURRY_NAME_OF_FLAG.
func flagsFromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil {
			return
		}
		name := "PGFLURRY_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := lookup(name)
		if !ok || f.Name == "help" || f.Name == "version" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s is %q, which --%s does not take: %w", name, value, f.Name, err)
		}
	})
	return failed
}

// version tells what was built: the module's version, else the commit, else "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "devel"
}

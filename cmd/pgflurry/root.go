package main

import (
	"os"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree. Each subcommand lives in the file of its name.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pgflurry",
		Short: "Cluster-unique, time-ordered 64-bit IDs for any PostgreSQL client",
		Long: `pgflurry answers SELECT next_snowflake() from memory, in front of PostgreSQL. It installs the same
function inside PostgreSQL, so DEFAULT next_snowflake() works with and without the proxy. Both draw
from one ID space.

A flag can also be given as an environment variable: --lease-database is PGFLURRY_LEASE_DATABASE. Flags
that consent to something are taken from the command line only. A flag on the command line wins over the
environment. A connection string may also stand in a file: PGFLURRY_LEASE_DATABASE_FILE names it. serve
reads a configuration file, too.

Exit codes:
  0  done
  1  failed, for any other reason than these
  2  usage: a flag, an argument, a variable or a file is wrong, or contradicts another one
  3  not in place: the database lacks something, is a copy, is closed, or has a newer schema
  4  cannot connect: nothing is there, it refuses the login, or does not answer in time`,
		Args:          cobra.NoArgs, // so that a misspelled command is an error
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       longVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := readEnvironment(cmd, os.Environ()); err != nil {
				return err
			}
			return flagsFit(cmd)
		},
	}
	root.AddCommand(newServe())
	root.AddCommand(newDemo())
	root.AddCommand(newHealth())
	root.AddCommand(newReload())
	root.AddCommand(newDoctor())
	root.AddCommand(newMigrate())
	root.AddCommand(newWorkers())
	root.AddCommand(newNamespace())
	root.AddCommand(newClients())
	root.AddCommand(newDecode())
	root.AddCommand(newVersion())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	refuseUnknownShells(root)
	leadOn(root)
	complete(root)
	wrapHelp(root)
	return root
}

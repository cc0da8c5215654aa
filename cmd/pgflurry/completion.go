package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/sqlfuncs"
)

// enumerated lists the flags that take one of a few values, for completion by a shell.
var enumerated = map[string][]string{
	"log-level":    {"debug", "info", "warn", "error"},
	"log-format":   {"text", "json"},
	"client-tls":   {"disable", "allow", "require"},
	"client-auth":  {"relay", "password"},
	"upstream-tls": {"disable", "prefer", "require", "verify-ca", "verify-full"},
	"valid-until":  {"never"}, // beside times and durations
	"at":           {atNow, "never"},
	// beside durations
	"restart-quarantine": {"0s", "default"},
	"functions":          {sqlfuncs.Snowflake, sqlfuncs.All},
	"layout":             {"twitter", "datacenter", "javascript", "41/0/10/12"},
}

// files says whether a flag takes the name of a file or a folder, so that a shell completes paths. For every other flag
// a path would be wrong.
func files(flag string) bool {
	for _, part := range []string{"tls-", "-file", "listen", "upstream", "config", "data", "bin"} {
		if strings.Contains(flag, part) && flag != "database" && flag != "databases" {
			return true
		}
	}
	return false
}

// complete sets up completion of flag values, for cmd and all its subcommands.
func complete(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = cobra.NoFileCompletions // no command takes the name of a file
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values, few := enumerated[f.Name]
		if !few && files(f.Name) {
			return
		}
		// RegisterFlagCompletionFunc fails only if the flag has a function already.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	})
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// newHelp is cobra's help command, but it fails for a command that does not exist.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if above, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range above.Commands() {
					if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				if len(rest) == 0 {
					rest = args
				}
				return usageError(found, fmt.Errorf("%s is no command of %q",
					connstring.Shown(rest[0]), found.CommandPath()))
			}
			found.InitDefaultHelpFlag() // as the command itself does when it runs
			return found.Help()
		},
	}
}

// refuseUnknownShells makes cobra's completion command refuse a shell that it does not know.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

package main

import (
	"io"
	"strings"

	"pgflurry/internal/config/source"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// complete sets up completion of flag values, for cmd and all its subcommands.
func complete(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = cobra.NoFileCompletions // no command takes the name of a file
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if source.Has(f, source.Path) {
			return // a shell completes paths itself
		}
		// RegisterFlagCompletionFunc fails only if the flag has a function already.
		values := cobra.FixedCompletions(f.Annotations[source.Enum], cobra.ShellCompDirectiveNoFileComp)
		_ = cmd.RegisterFlagCompletionFunc(f.Name, values)
	})
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// newHelp is cobra's help command, but it fails for a command that does not exist.
func newHelp() *cobra.Command {
	var flags bool
	help := &cobra.Command{
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
				return noCommand(found, rest[0])
			}
			found.InitDefaultHelpFlag() // as the command itself does when it runs
			if flags {
				_, err := io.WriteString(cmd.OutOrStdout(), everyFlag(found))
				return err
			}
			return found.Help()
		},
	}
	help.Flags().BoolVar(&flags, "flags", false, "say what each flag of the command does")
	return help
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

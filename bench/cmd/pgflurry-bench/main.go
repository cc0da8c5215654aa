// Command pgflurry-bench measures pgflurry beside its rivals, on real servers.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"pgflurry/internal/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pgflurry-bench: "+err.Error())
		if advice := fault.HintOf(err); advice != "" {
			fmt.Fprintln(os.Stderr, "hint: "+advice)
		}
		os.Exit(int(fault.KindOf(err)))
	}
}

// newRoot builds the command tree. Each subcommand lives in the file of its name.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "pgflurry-bench",
		Short:         "Measure pgflurry beside its rivals, on real servers",
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(misuse)
	root.AddCommand(newRun(), newProxy(), newInsert(), newInprocess())
	return root
}

// usage marks an error of the user: the same call will fail again.
func usage(err error) error { return fault.WithKind(fault.Usage, err) }

// misuse is a usage error with a hint: see the help of the command.
func misuse(cmd *cobra.Command, err error) error {
	return usage(fault.WithHint(err, fmt.Sprintf("See \"%s --help\".", cmd.CommandPath())))
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return misuse(cmd, fmt.Errorf("%q has no command and no argument %q", cmd.CommandPath(), args[0]))
}

// Command pgflurry-bench measures pgflurry beside its rivals, on real servers.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"pgflurry/hint"
	"pgflurry/outcome"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process as if nobody had listened
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pgflurry-bench: "+err.Error())
		if advice := hint.Of(err); advice != "" {
			fmt.Fprintln(os.Stderr, "hint: "+advice)
		}
		os.Exit(int(outcome.Of(err)))
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
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(newTargets())
	root.AddCommand(newProxy())
	root.AddCommand(newRun())
	root.AddCommand(newInsert())
	root.AddCommand(newInprocess())
	root.AddCommand(newConnections())
	root.AddCommand(newRedraw())
	return root
}

// usage is an error of what was given: the same call fails again.
func usage(err error) error { return outcome.As(outcome.Usage, err) }

func noArguments(cmd *cobra.Command, args []string) error { return usage(cobra.NoArgs(cmd, args)) }

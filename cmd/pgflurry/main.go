// Command pgflurry gives any PostgreSQL client cluster-unique, time-ordered 64-bit IDs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
)

func main() {
	ctx := untilSignal()
	cmd, err := execute(ctx, newRoot(), os.Args[1:])
	if err != nil {
		if !errors.As(err, &logged{}) {
			err = readable(ctx, cmd, err)
			printed := logs.NewQueue(os.Stderr) // so a reader that blocks does not keep the program from its end
			fmt.Fprint(printed, complaint(err))
			printed.End()
		}
		os.Exit(int(fault.KindOf(err)))
	}
}

// execute runs a command line. For --help behind a command that does not exist, cobra would show the help of the one
// above it.
func execute(ctx context.Context, root *cobra.Command, args []string) (*cobra.Command, error) {
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	isName := err == nil && len(rest) > 0 && !strings.HasPrefix(rest[0], "_") && !strings.HasPrefix(rest[0], "-")
	if isName && cmd.HasSubCommands() {
		return cmd, noCommand(cmd, rest[0])
	}
	root.SetArgs(args)
	return root.ExecuteContextC(ctx)
}

// complaint formats an error for people: what happened, and what to do.
func complaint(err error) string {
	text := "pgflurry: " + connect.Masked(err.Error()) + "\n"
	if advice := fault.HintOf(err); advice != "" {
		text += "hint: " + advice + "\n"
	}
	return text
}

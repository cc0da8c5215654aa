// Command pgflurry gives any PostgreSQL client cluster-unique, time-ordered 64-bit IDs.
package main

import (
	"errors"
	"fmt"
	"os"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
)

func main() {
	ctx := untilSignal()
	cmd, err := newRoot().ExecuteContextC(ctx)
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

// complaint formats an error for people: what happened, and what to do.
func complaint(err error) string {
	text := "pgflurry: " + connect.Masked(err.Error()) + "\n"
	if advice := fault.HintOf(err); advice != "" {
		text += "hint: " + advice + "\n"
	}
	return text
}

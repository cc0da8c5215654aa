// Command pgflurry gives any PostgreSQL client cluster-unique, time-ordered 64-bit IDs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; from then on the default holds again, so a second one ends at once.
	context.AfterFunc(ctx, stop)
	err := newRoot().ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgflurry: "+err.Error())
		var hinted interface{ Hint() string }
		if errors.As(err, &hinted) && hinted.Hint() != "" {
			fmt.Fprintln(os.Stderr, "hint: "+hinted.Hint())
		}
		os.Exit(1)
	}
}

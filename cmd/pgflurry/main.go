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
	err := newRoot().ExecuteContext(untilSignal())
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgflurry: "+err.Error())
		var hinted interface{ Hint() string }
		if errors.As(err, &hinted) && hinted.Hint() != "" {
			fmt.Fprintln(os.Stderr, "hint: "+hinted.Hint())
		}
		os.Exit(1)
	}
}

// untilSignal is a context that the first signal ends, which asks for an orderly end. The second one ends the process as if nobody
// had listened. Both are awaited from the start, so that none is lost however soon the second follows.
func untilSignal() context.Context {
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		cancel(fmt.Errorf("stopped by signal: %v", <-received))
		second := <-received
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), second.(syscall.Signal))
	}()
	return ctx
}

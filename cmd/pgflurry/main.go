// Command pgflurry gives any PostgreSQL client cluster-unique, time-ordered 64-bit IDs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/outcome"
)

func main() {
	ctx := untilSignal()
	cmd, err := newRoot().ExecuteContextC(ctx)
	if err != nil {
		err = told(ctx, cmd, err)
		printed := newLogQueue(os.Stderr, nil) // an error that nobody reads must not keep the program from its end
		fmt.Fprint(printed, complaint(err))
		printed.end()
		os.Exit(int(outcome.Of(err)))
	}
}

// complaint is how an error is printed: what happened, and what to do.
func complaint(err error) string {
	text := "pgflurry: " + connstring.Masked(err.Error()) + "\n"
	if advice := hint.Of(err); advice != "" {
		text += "hint: " + advice + "\n"
	}
	return text
}

// untilSignal is a context that the first signal ends, which asks for an orderly end. The second one ends the process
// as if nobody had listened. Both are awaited from the start, so that none is lost however soon the second follows.
func untilSignal() context.Context {
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		cancel(fmt.Errorf("stopped by signal: %v", <-received))
		endBy(<-received)
	}()
	return ctx
}

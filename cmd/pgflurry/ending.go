package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// readable turns the error of a command into the one that people read. After a signal it names the signal. For a failed
// connection it names the last cause, not every attempt. For a missing prepared statement it points at the pooler.
func readable(ctx context.Context, cmd *cobra.Command, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return fault.WithHint(context.Cause(ctx), afterSignal(cmd))
	}
	err = connect.Explain(err)
	var said *pgconn.PgError
	if errors.As(err, &said) && fault.HintOf(err) == "" {
		switch said.Code {
		case "42P05", "26000": // a prepared statement exists already, or does not exist
			return fault.WithHint(err, "A pooler in transaction mode seems to stand between. "+
				"Connect to PostgreSQL itself, or through a pooler in session mode.")
		}
	}
	return err
}

// afterSignal is the hint for a command that a signal has interrupted.
func afterSignal(cmd *cobra.Command) string {
	for parent := cmd; parent != nil; parent = parent.Parent() {
		switch parent.Name() {
		case "close":
			return "If it has said \"closed\", the database stays closed. Run it again, with --wait or without."
		case "migrate", "namespace":
			return "Each step is done whole or not at all. Run it again: it goes on where it stopped."
		}
	}
	return ""
}

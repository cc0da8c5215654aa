package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
	"pgflurry/internal/session"
)

// longestCloseWait is the longest pause of close --wait before it looks and reports again.
const longestCloseWait = 10 * time.Second

func newNamespaceClose() *cobra.Command {
	var url string
	var wait, asJSON bool
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "close",
		Short: "Close a database for good, before another one takes its place",
		Long: `close is the first step of a move in which the original lives on: blue/green, pg_upgrade with the old
server kept, another machine. From its commit on:
  - next_snowflake() fails with SNF04, in statements that are running, too
  - no proxy gets a worker here or renews one; one that holds a worker stops when it wants to renew
  - segments, auto_increment, replace IDs, counters, tokens and locks fail with SNF04

Sequences of PostgreSQL itself go on: bigserial, identity columns, and offset sequences. Stop
their writers yourself.

A proxy that cannot hear of it, because it is paused or cut off, may issue IDs until its grant ends. close
says when. --wait waits for that, and says how long it still takes. Ctrl-C ends the wait, and the
database stays closed. You can run close again at any time, with --wait or without.

Then make the dump, restore it on the other side, and run there:
  pgflurry namespace move --database URL --no-other-draws
The same on the closed database takes the closing back, as long as no copy has taken its place. One that
has joined needs --home URL as well.

close needs the owner of schema pgflurry, and the primary. It waits for open transactions that have
written pgflurry's tables, at most for --lock-timeout. Then it changes nothing, and names them.

--json prints one object: database, closed, generation, closed_at, home, leases, grants_end_at,
left_seconds.
` + jsonRules,
		Example: `  pgflurry namespace close --database postgres://app@blue/shop --wait`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if patience < time.Millisecond {
				return usageError(cmd, fmt.Errorf("--lock-timeout is %v; expected 1ms or more", patience))
			}
			c, err := decide.Close(cmd.Context(), url, patience)
			if err != nil {
				return connect.Explain(namespace.AsOwner(err))
			}
			if wait {
				if c, err = untilGrantsEnd(cmd, url, c); err != nil {
					return connect.Explain(err)
				}
			}
			if asJSON {
				return printClosingJSON(cmd.OutOrStdout(), c)
			}
			return printClosing(cmd.OutOrStdout(), c, url)
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until no grant of a proxy can be in use, until Ctrl-C")
	cmd.Flags().DurationVar(&patience, "lock-timeout", 5*time.Second,
		"how long to wait for each lock. Renewals of leases queue behind it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// untilGrantsEnd waits until the last grant of a closed database is over.
func untilGrantsEnd(cmd *cobra.Command, url string, c decide.Closing) (decide.Closing, error) {
	if c.Left > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "closed; waiting %v for the last grants (%s)\n", wholeSeconds(c.Left),
			leasesInUse(c))
	}
	shown, ctx := showProgress(cmd), cmd.Context()
	defer shown.end()
	for c.Left > 0 {
		shown.left("waiting for the last grants", c.Left)
		pause := time.NewTimer(min(c.Left, longestCloseWait))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return c, fmt.Errorf("the database is closed, but grants may be in use: %w", ctx.Err())
		}
		before := c
		var err error
		if c, err = decide.LookAtClosing(ctx, url); err != nil {
			return c, err
		}
		if !c.Closed || c.Generation < before.Generation {
			return c, fault.WithHint(errors.New("the database is not closed any more"),
				"Somebody has taken that back, or has set its server back. Find out, then run it again.")
		}
	}
	return c, nil
}

// leasesInUse says what a wait is for. The rows may lack grants that a failover, a restore or a restart has forgotten.
func leasesInUse(c decide.Closing) string {
	if c.Leases == 0 {
		return "a failover, a restore or a restart may have forgotten them"
	}
	return fmt.Sprintf("leases: %d", c.Leases)
}

func printClosing(w io.Writer, c decide.Closing, url string) error {
	text := fmt.Sprintf("database %q is closed since %s, at generation %d: it gives no IDs, segments, counters, "+
		"tokens or locks any more\n", c.Database, timestamp(*c.Since), c.Generation) +
		"not closed: sequences of PostgreSQL itself (bigserial, identity columns, offset sequences)\n"
	next := "next: make the dump, restore it on the other side, and run there: " + takeBack(c.Home)
	switch {
	case c.Home != "":
		text += fmt.Sprintf("no proxy leases a worker here: those of its namespace are in %s, which is not closed\n",
			c.Home)
	case c.Left > 0:
		text += fmt.Sprintf("grants of proxies may be in use until %s, for another %v (%s)\n",
			timestamp(*c.GrantsEnd), wholeSeconds(c.Left), leasesInUse(c))
		next = session.InCommands("next: pgflurry namespace close --database URL --wait", url)
	default:
		text += "no grant of a proxy can be in use\n"
	}
	_, err := fmt.Fprintln(w, text+next)
	return err
}

// closingJSON is the output of "close --json". Fields may be added.
type closingJSON struct {
	Database   string  `json:"database"`
	Closed     bool    `json:"closed"`
	Generation int64   `json:"generation"`
	ClosedAt   *string `json:"closed_at"`
	Home       *string `json:"home"`
	Leases     int     `json:"leases"`
	GrantsEnd  *string `json:"grants_end_at"`
	Left       float64 `json:"left_seconds"`
}

func printClosingJSON(w io.Writer, c decide.Closing) error {
	at := func(t *time.Time) *string {
		if t == nil {
			return nil
		}
		return known(timestamp(*t))
	}
	return printObject(w, closingJSON{
		Database: c.Database, Closed: c.Closed, Generation: c.Generation, ClosedAt: at(c.Since), Home: known(c.Home),
		Leases: c.Leases, GrantsEnd: at(c.GrantsEnd), Left: c.Left.Seconds(),
	})
}

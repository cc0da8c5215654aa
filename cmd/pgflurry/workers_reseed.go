package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
)

func newWorkersReseed() *cobra.Command {
	var url string
	var asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "reseed",
		Short: "Make the worker table safe after the database was restored",
		Long: `Run reseed after a restore from a backup or a snapshot: the restored table does not know what was
reserved since. reseed does this:
  - it raises RESERVED UNTIL of every proxy's worker to now + max_window + skew
  - it ends every lease
  - it lets no proxy get a worker for the length of the quarantine

Until then proxies finish their grants and then relay, and the function in the database gives the IDs.
The restored table may lack databases that have joined, too. So no other one can join until you have
run "pgflurry namespace set --joins-complete".

A database that has joined has no leases. For it run "pgflurry namespace move --home HOME" instead.

If the backup is older than the last "pgflurry namespace set --max-window", run that command again first.
The restored table knows only the windows of its own time.

Run reseed as the owner of the schema, before the first proxy connects to the restored database. It
says what it will do, and asks. --yes is for scripts. It is harmless to run it again, but that begins
the quarantine anew.

--json prints one object: workers, raised, leases_ended (numbers of workers),
reserved_until, granted_after (times).
` + jsonRules,
		Example: `  pgflurry workers reseed --database postgres://app@localhost/shop
  pgflurry workers reseed --database postgres://app@localhost/shop --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				if err := confirm(cmd, url); err != nil {
					return err
				}
			}
			return withHomeToReseed(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
				if err := ns.Changes(); err != nil {
					return err
				}
				store := lease.NewPostgres(&conn.Config().Config, connect.Rules{})
				defer store.Close()
				reseeded, err := store.Reseed(ctx)
				if err != nil {
					return namespace.AsOwner(err)
				}
				if err := decide.BeginAnew(ctx, conn); err != nil {
					return namespace.AsOwner(err)
				}
				return printReseeded(cmd.OutOrStdout(), reseeded, ns, asJSON)
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	asksConsent(cmd, "yes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withHomeToReseed is withWorkers, and says what to run for a database that has joined. It has no leases. But its
// function and its claim may have gone back.
func withHomeToReseed(
	cmd *cobra.Command, url string, run func(context.Context, *pgx.Conn, namespace.Namespace) error,
) error {
	err := withWorkers(cmd, url, run)
	if joined := new(joinedError); errors.As(err, &joined) {
		return fault.WithHint(err, fmt.Sprintf(
			`If this database was set back, run this before anything draws; HOME is %s:
  pgflurry namespace move --database URL --home HOME
Its function then begins anew, and its home says whether its worker is still its own.
If the home was set back, run reseed with the URL of the home.`, joined.home))
	}
	return err
}

// confirm says what a reseed will do to the namespace, and asks for consent. Only "yes" is one.
func confirm(cmd *cobra.Command, url string) error {
	err := withHomeToReseed(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
		listing, err := lease.List(ctx, conn, false)
		if err != nil {
			return err
		}
		held := 0
		for _, r := range listing.Rows {
			if r.State == "held" {
				held++
			}
		}
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), `This will, in the ID space of database %q:
  end %d leases: those proxies finish what they have reserved, and then relay
  grant no worker to any proxy for %v; until then the function in the database gives the IDs
  rely on it that no proxy had a --window above %v since the backup; if one had, answer no, and run
  "pgflurry namespace set --max-window" with that one first
  let no other database join until "pgflurry namespace set --joins-complete" was run
Type yes to go on: `, ns.Database, held, ns.Quarantine, ns.MaxWindow)
		return err
	})
	if err != nil {
		return err
	}
	answer, err := line(cmd.Context(), cmd.InOrStdin())
	if strings.TrimSpace(answer) == "yes" {
		return nil
	}
	if err != nil && strings.TrimSpace(answer) == "" {
		fmt.Fprintln(cmd.ErrOrStderr())
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return fault.WithHint(errors.New("nothing was changed"), "Type yes, or give --yes where nobody can type.")
}

// line reads one line, or stops when ctx ends.
func line(ctx context.Context, from io.Reader) (string, error) {
	return awaited(ctx, func() (string, error) { return bufio.NewReader(from).ReadString('\n') })
}

// awaited runs reads, but returns when ctx ends. It then abandons a read that is under way.
func awaited(ctx context.Context, reads func() (string, error)) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := reads()
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func printReseeded(w io.Writer, r lease.Reseeded, ns namespace.Namespace, asJSON bool) error {
	until, opens := ns.Layout.Time(r.Mark), ns.Layout.Time(r.Opens)
	if asJSON {
		t := newTable("workers", "raised", "leases_ended", "reserved_until", "granted_after")
		t.add(r.Workers, r.Raised, r.Held, until, opens)
		return t.printOne(w)
	}
	fmt.Fprintf(w, "reserved until %s: %d of %d workers; what was later stays\n", timestamp(until), r.Raised, r.Workers)
	fmt.Fprintf(w, "leases ended: %d; a holder may finish its grant\n", r.Held)
	fmt.Fprintf(w, "no worker is granted before %s\n", timestamp(opens))
	return nil
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
)

// newWorkersHistory is the command that finds the process behind an ID.
func newWorkersHistory() *cobra.Command {
	var url string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history [NUMBER]",
		Short: "Show who held which worker when",
		Long: `history shows who holds which worker and who held it before, the latest first. It lists up to 100
former holders of each worker, or of the worker NUMBER.

To find who made an ID, take its worker and time from "pgflurry decode". Then look for the holder of
that worker with ACQUIRED AT before the time and RESERVED UNTIL after it. RELEASED AT is empty if the
holder has the worker now, vanished or lost it.

--json prints an array with an object for each holder: worker, node, acquired_at, reserved_until,
released_at, term, address, version.
` + jsonRules,
		Example: `  pgflurry workers history --database postgres://app@localhost/shop
  pgflurry workers history 17 --database postgres://app@localhost/shop --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%d workers were given; give the number of one, or none for all", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			worker, err := oneWorker(args)
			if err != nil {
				return err
			}
			return withWorkers(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
				tenures, err := lease.History(ctx, conn, worker)
				if err != nil {
					return namespace.AsLessee(err, conn.Config().User)
				}
				return printHistory(cmd.OutOrStdout(), tenures, ns, asJSON)
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// oneWorker is the worker number in args; nil if there is none.
func oneWorker(args []string) (*int, error) {
	if len(args) == 0 {
		return nil, nil
	}
	n, err := workerNumber(args[0])
	return &n, err
}

func printHistory(w io.Writer, tenures []lease.Tenure, ns namespace.Namespace, asJSON bool) error {
	t := newTable("worker", "node", "acquired_at", "reserved_until", "released_at", "term", "address", "version")
	for _, h := range tenures {
		var until any
		if h.ReservedUntil != nil {
			until = ns.Layout.Time(*h.ReservedUntil)
		}
		t.add(h.Worker, h.Node, instant(h.AcquiredAt), until, instant(h.ReleasedAt), h.Term, h.Address, h.Version)
	}
	return t.print(w, asJSON)
}

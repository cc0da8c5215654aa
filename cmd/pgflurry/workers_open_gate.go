package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
)

func newWorkersOpenGate() *cobra.Command {
	var url string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "open-gate",
		Short: "Let proxies get workers at once, although old grants may be in use",
		Long: `After a failover, a restore or a reseed no proxy gets a worker for the length of the quarantine. The rows
may lack grants that are in use. open-gate ends that wait. Use it if the gate was closed by mistake, or
for too long. "workers list" and "migrate status" say who closed it, and until when.

With --yes you confirm that no grant is in use that the rows lack. Otherwise two proxies give the same
IDs. No proxy may be running that had its worker before the failover or the restore.

The start of a server keeps workers back as well, and open-gate does not end that wait:
"pgflurry namespace set --restart-quarantine" does. Run open-gate as the owner of schema pgflurry.

--json prints one object: database, opened, was_closed_by, would_have_opened_at.
` + jsonRules,
		Example: `  pgflurry workers open-gate --database postgres://app@localhost/shop --yes`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			act := decide.OpenGate
			if !yes {
				act = decide.LookAtGate
			}
			gate, err := act(cmd.Context(), url)
			if err != nil {
				return connect.Explain(namespace.AsOwner(err))
			}
			closed := fmt.Sprintf("the gate of database %q was closed by %s, until %s (for another %v)",
				gate.Database, closedBy(gate.By), timestamp(gate.Opens), wholeSeconds(gate.Left))
			if gate.Left > 0 && !yes {
				return fault.WithKind(fault.Usage, fault.WithHint(errors.New(closed+"; nothing was changed"),
					"With --yes you confirm that no grant is in use that the rows lack."))
			}
			if asJSON {
				t := newTable("database", "opened", "was_closed_by", "would_have_opened_at")
				t.add(gate.Database, gate.Left > 0, gate.By, whileClosed(gate))
				return t.printOne(cmd.OutOrStdout())
			}
			said := closed + "\nit is open now: proxies get workers"
			if gate.Left == 0 {
				said = fmt.Sprintf("the gate of database %q is open; nothing was changed", gate.Database)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&yes, "yes", false, "no grant is in use that the rows lack")
	asksConsent(cmd, "yes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// closedBy names who closed the gate.
func closedBy(who string) string {
	if who == "" {
		return "somebody unknown"
	}
	return who
}

func whileClosed(g decide.Gate) any {
	if g.Left == 0 {
		return nil
	}
	return g.Opens
}

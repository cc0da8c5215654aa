package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/account"
	"pgflurry/internal/namespace"
)

func newClientsRemove() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Delete a client and its password",
		Long: `remove deletes a client and its password. Once proxies have read the table again, within seconds, they
refuse the client and end its sessions. A proxy that cannot reach the database uses what it read last.
If no client is left at all, open sessions stay: an empty table is more likely a mistake.

"pgflurry clients expire" locks a client out, and leaves its open sessions.`,
		Example: `  pgflurry clients remove shop --database postgres://owner@localhost/app`,
		Args:    oneClient,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClients(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
				if err := ns.Changes(); err != nil {
					return err
				}
				if err := account.Remove(ctx, conn, args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(),
					"client %q is removed; proxies end its sessions within seconds\n", args[0])
				return err
			})
		},
	}
	databaseFlag(cmd, &url)
	return cmd
}

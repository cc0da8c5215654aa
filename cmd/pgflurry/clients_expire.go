package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/account"
	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/namespace"
)

// atNow is the default of --at.
const atNow = "now"

func newClientsExpire() *cobra.Command {
	var url, at string
	cmd := &cobra.Command{
		Use:   "expire NAME",
		Short: "Set until when a client may log in; by default its access ends now",
		Long: `expire sets the last instant at which a client may log in, by default now. The client keeps its
password, so --at never lets it in again. An expired client reads the same error as one with a wrong
password. Open sessions stay.`,
		Example: `  pgflurry clients expire shop --database postgres://owner@localhost/app
  pgflurry clients expire shop --at 2027-01-31T18:00:00Z --database postgres://owner@localhost/app
  pgflurry clients expire shop --at never --database postgres://owner@localhost/app`,
		Args: oneClient,
		RunE: func(cmd *cobra.Command, args []string) error {
			end := account.End{Now: true}
			if at != atNow {
				var err error
				if end, err = endOf("at", at); err != nil {
					return err
				}
			}
			return withClients(cmd, url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
				if err := ns.Changes(); err != nil {
					return err
				}
				until, past, err := account.Expire(ctx, conn, args[0], end)
				if err != nil {
					return err
				}
				what := fmt.Sprintf("client %q may log in %s\n", args[0], spellUntil(until))
				if past {
					what = fmt.Sprintf("client %q may log in no more, since %s; "+
						"its open sessions stay until they end\n", args[0], timestamp(until))
				}
				_, err = fmt.Fprint(cmd.OutOrStdout(), what)
				return err
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().StringVar(&at, "at", atNow,
		"last `TIME` at which it may log in: 2027-01-31T18:00:00Z, a duration from now such as 720h, "+
			"now, or never")
	source.Describe(cmd.Flags(), config.Row{Name: "at", Enum: []string{atNow, "never"}})
	return cmd
}

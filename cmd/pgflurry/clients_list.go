package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/account"
	"pgflurry/internal/namespace"
)

func newClientsList() *cobra.Command {
	var url string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show who may log in to the ID database",
		Long: `list shows who may log in to the ID database, and whose time is over. LOGIN is password or
certificate. STATE is valid or expired, by the clock of this machine. list shows no password and no
verifier. The lease role of a proxy may run it, too.

--json prints an array with an object for each client:
  name, login, state
  iterations              of SCRAM; null without a password
  valid_until             null: for ever
  connection_limit        null: any number
  created_at, changed_at
` + jsonRules,
		Example: `  pgflurry clients list --database postgres://owner@localhost/app
  pgflurry clients list --database postgres://owner@localhost/app --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClients(cmd, url, func(ctx context.Context, conn *pgx.Conn, _ namespace.Namespace) error {
				list, err := readClients(ctx, conn)
				if err != nil {
					return err
				}
				return printClients(cmd.OutOrStdout(), list, asJSON)
			})
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func readClients(ctx context.Context, conn *pgx.Conn) (*account.List, error) {
	return account.Read(ctx, conn, time.Now())
}

func printClients(w io.Writer, list *account.List, asJSON bool) error {
	if list.Len() == 0 && !asJSON {
		_, err := fmt.Fprintln(w, `no client may log in to the ID database; "pgflurry clients add" adds one`)
		return err
	}
	t := newTable("name", "login", "state", "valid_until", "connection_limit", "created_at", "changed_at")
	if asJSON {
		t = newTable("name", "login", "iterations", "state", "valid_until", "connection_limit", "created_at",
			"changed_at")
	}
	for _, a := range list.All() {
		login, state := "certificate", "expired"
		var iterations, until, limit any
		if !a.Verifier.IsZero() {
			login, iterations = "password", a.Verifier.Iterations()
		}
		if a.MayLogIn(list.Read()) {
			state = "valid"
		}
		if !a.ValidUntil.IsZero() {
			until = a.ValidUntil
		}
		if a.ConnectionLimit >= 0 {
			limit = a.ConnectionLimit
		}
		if asJSON {
			t.add(a.Name, login, iterations, state, until, limit, a.Created, a.Changed)
		} else {
			t.add(a.Name, login, state, until, limit, a.Created, a.Changed)
		}
	}
	return t.print(w, asJSON)
}

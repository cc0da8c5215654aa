package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/account"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

// newClients is the command that says who may log in to the ID database.
func newClients() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "Manage who may log in to the ID database: add, list, remove, expire",
		Long: `clients changes and shows table pgflurry.client. The table says who may log in to the ID database of
"pgflurry serve --id-database". A client logs in with its password by SCRAM-SHA-256, or with a
certificate alone. Clients have nothing to do with the roles of PostgreSQL.

Proxies read the table every few seconds, and log clients in from memory. So a change takes effect
within seconds. While the database is away, proxies use what they read last.`,
		Args: cobra.NoArgs, // so that a misspelled subcommand is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newClientsAdd(), newClientsList(), newClientsRemove(), newClientsExpire())
	return cmd
}

// withClients is withHome for commands on the table of clients.
func withClients(
	cmd *cobra.Command, url string, run func(context.Context, *pgx.Conn, namespace.Namespace) error,
) error {
	return withHome(cmd, url, "clients that proxies know", run)
}

// oneClient accepts the name of one client as the only argument. Its errors never repeat an argument: one may be a
// password.
func oneClient(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d names of clients were given; give one, and nothing else: "+
			"what it logs in with is asked for, or read from standard input", len(args))
	}
	if connect.LooksLikeOne(args[0]) {
		return errors.New("what stands in place of a name looks like a connection string; " +
			"that belongs behind --database")
	}
	return account.CheckName(args[0])
}

// endOf parses until when a client may log in.
func endOf(flag, text string) (account.End, error) {
	if text == "never" {
		return account.End{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return account.End{At: at}, nil
	}
	in, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return account.End{}, fault.WithKind(fault.Usage, fault.WithHint(
			fmt.Errorf("--%s is no instant", flag),
			"Expected a time such as 2027-01-31T18:00:00Z, a duration from now such as 720h, or never."))
	case in <= 0:
		return account.End{}, fault.WithKind(fault.Usage, fmt.Errorf("--%s is %v; expected a time ahead", flag, in))
	}
	return account.End{In: in}, nil
}

// spellUntil words until when a client may log in.
func spellUntil(until time.Time) string {
	if until.IsZero() {
		return "for ever"
	}
	return "until " + timestamp(until)
}

// existsHint adds to the error of an existing client how to change that client.
func existsHint(err error) error {
	var exists *account.ExistsError
	if errors.As(err, &exists) {
		return fault.WithHint(err, `To give it another password add --replace. `+
			`"pgflurry clients expire" changes until when it may log in.`)
	}
	return err
}

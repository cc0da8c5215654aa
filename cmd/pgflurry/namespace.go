package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/namespace"
)

// newNamespace is the command that shows ID spaces and compares databases.
func newNamespace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespace",
		Short: "Show which ID space a database belongs to; compare the databases of one",
		Long: `namespace shows what all databases of an ID space have in common. It says whether several databases
may be parts of one ID space. It changes nothing. A role that "pgflurry serve" leases with may run it
(CALL pgflurry.grant_lease).`,
		Args: cobra.NoArgs, // so that a misspelled subcommand is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNamespaceShow(), newNamespaceCheck())
	return cmd
}

// namespacePatience limits the time for one connection and its queries.
const namespacePatience = 15 * time.Second

// look connects to a database and reads its namespace. The caller closes the connection only after the last comparison.
// An open connection proves that the server behind it is still the same.
func look(ctx context.Context, config *pgx.ConnConfig) (namespace.Seen, *pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, namespacePatience)
	defer cancel()
	conn, err := connect.Open(ctx, config)
	if err != nil {
		return namespace.Seen{}, nil, err
	}
	seen, err := namespace.Look(ctx, conn)
	if err != nil {
		_ = conn.Close(ctx)
		return namespace.Seen{}, nil, err
	}
	seen.Address = addressOf(conn)
	return seen, conn, nil
}

// addressOf is the address for people: the given host, or the one that answered if several were given.
func addressOf(conn *pgx.Conn) string {
	config := conn.Config()
	address, database := "", "/"+config.Database
	if _, address = pgconn.NetworkAddress(config.Host, config.Port); len(config.Fallbacks) == 0 {
		return address + database
	}
	answered := conn.PgConn().Conn().RemoteAddr().String()
	if _, err := netip.ParseAddrPort(answered); err != nil {
		return address + database
	}
	return answered + database
}

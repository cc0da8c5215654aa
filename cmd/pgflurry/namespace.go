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
		Short: "Say which ID space a database belongs to, what it becomes, and how its settings change",
		Long: `namespace is for the ID space of a database: its layout, its workers, and who may use them. If a
database is a copy of another one, you say what it shall be:
  - join: it shares the ID space of another database, with a worker of its own
  - separate: it becomes an ID space of its own
  - move: it takes the place of its original, which gives no IDs any more

join makes an empty database part of an ID space, too. join, separate, move and set also do what
"pgflurry migrate up" does, and need the same rights. A role that "pgflurry serve" leases with may run
show and check (CALL pgflurry.grant_lease). They change nothing.`,
		Args: cobra.NoArgs, // so that a misspelled subcommand is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNamespaceShow(), newNamespaceCheck(), newNamespaceJoin(), newNamespaceMove(),
		newNamespaceSeparate(), newNamespaceClose(), newNamespaceSet())
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

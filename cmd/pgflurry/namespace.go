package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"pgflurry/connstring"
	"pgflurry/namespace"
)

// newNamespace is the command to look at ID spaces, and to compare the databases of one.
func newNamespace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespace",
		Short: "Show which ID space a database belongs to; compare the databases of one",
		Long: `namespace shows what all databases of an ID space have in common, and whether several may be parts of
one. It changes nothing. A role that "pgflurry serve" leases with may run it (CALL pgflurry.grant_lease).`,
		Args: cobra.NoArgs, // so that a misspelled subcommand is an error
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNamespaceShow(), newNamespaceCheck())
	return cmd
}

// namespacePatience bounds one connection and its questions.
const namespacePatience = 15 * time.Second

// look connects to a database and looks at it. The caller closes the connection, if there is one: until then its server
// cannot have become another one.
func look(ctx context.Context, config *pgx.ConnConfig) (namespace.Seen, *pgx.Conn, error) {
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // leaves no prepared statement behind in a pooler
	ctx, cancel := context.WithTimeout(ctx, namespacePatience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return namespace.Seen{}, nil, connstring.Explain(err)
	}
	seen, err := namespace.Look(ctx, conn)
	if err != nil {
		_ = conn.Close(ctx)
		return namespace.Seen{}, nil, err
	}
	seen.Address = addressOf(conn)
	return seen, conn, nil
}

// addressOf is where a connection has led, for people: the host that was given, or the one of several that answered.
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

// rangeJSON is workers from one to another, both included.
type rangeJSON struct {
	From int `json:"from"`
	To   int `json:"to"`
}

func rangeOf(r namespace.Range) rangeJSON { return rangeJSON{r.Lowest, r.Highest} }

package suites

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/servers"
	"pgflurry/internal/fault"
)

// checkGiven refuses given servers that are not what their flags say, before it changes anything there. PostgreSQL
// answers everything that a proxy does, so without this check only the speed would differ.
func checkGiven(ctx context.Context, s servers.Servers) error {
	if s.Proxy.URL != "" {
		if err := checkProxy(ctx, s); err != nil {
			return err
		}
	}
	if s.IDDatabase.URL != "" {
		return checkIDDatabase(ctx, s.IDDatabase.URL)
	}
	return nil
}

// checkProxy recognises PostgreSQL itself, which sees the port of the client's own socket. Any other server is refused
// if its IDs are the function's: it only passes calls on.
func checkProxy(ctx context.Context, s servers.Servers) error {
	conn, err := pgx.Connect(ctx, s.Proxy.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var seen *int
	if err := conn.QueryRow(ctx, statement("client_port"), pgx.QueryExecModeSimpleProtocol).Scan(&seen); err != nil {
		return fmt.Errorf("--proxy %s: %w", addressOf(conn), err)
	}
	own, overTCP := conn.PgConn().Conn().LocalAddr().(*net.TCPAddr)
	if overTCP && seen != nil && *seen == own.Port {
		return fault.WithKind(fault.Usage, fault.WithHint(
			fmt.Errorf("--proxy %s is PostgreSQL itself: it sees this client's own port %d, so no proxy is between",
				addressOf(conn), own.Port),
			"Give --proxy the address that pgflurry serve listens on (its --listen)."))
	}
	if err := awaitAnswers(ctx, s); !errors.Is(err, errForwarded) {
		return err
	}
	return fault.WithKind(fault.NotInPlace, fault.WithHint(
		fmt.Errorf("--proxy %s does not answer next_snowflake() itself: its IDs are of the function in PostgreSQL",
			addressOf(conn)),
		"It is a pooler, or a proxy that has no worker or may not answer there. Its log says why, "+
			"and pgflurry workers list shows which proxies hold a worker."))
}

// checkIDDatabase refuses a server that runs SQL: an ID database does not.
func checkIDDatabase(ctx context.Context, target string) error {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var seen *int
	if conn.QueryRow(ctx, statement("client_port"), pgx.QueryExecModeSimpleProtocol).Scan(&seen) != nil {
		return nil
	}
	return fault.WithKind(fault.Usage, fault.WithHint(
		fmt.Errorf("--id-database %s, database %q, is PostgreSQL, or passes statements on to it: it has run one",
			addressOf(conn), conn.Config().Database),
		"Name the database of pgflurry serve --id-database NAME, at the address of that proxy."))
}

// addressOf is the address of a connection, without the password in its URL.
func addressOf(conn *pgx.Conn) string {
	return net.JoinHostPort(conn.Config().Host, fmt.Sprint(conn.Config().Port))
}

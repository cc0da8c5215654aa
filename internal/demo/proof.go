package demo

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/node"
)

//go:embed draw.sql
var drawSQL string

//go:embed table.sql
var tableSQL string

//go:embed insert.sql
var insertSQL string

// show draws the first IDs over the wire, as any client does. It prints them with a psql command to paste.
func (s Settings) show(ctx context.Context, n *node.Node, server *server, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	config, err := throughProxy(server.url, n.Addr())
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("no session through the proxy: %w", err)
	}
	defer conn.Close(ctx)
	ns, err := namespace.Read(ctx, conn)
	if err != nil {
		return err
	}
	draws, err := drawAll(ctx, conn)
	if err != nil {
		return err
	}
	if err := printDraws(out, ns, draws); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nPaste into another shell:\n\n    %s\n", pasteLine(config))
	if admin := n.AdminAddr(); admin != nil {
		fmt.Fprintf(out, "\nStatus page, metrics and probes:\n\n    %s\n", adminAddress(admin))
	}
	fmt.Fprint(out, "\nCtrl-C ends the demo.\n")
	return nil
}

// adminAddress is the address of the status page: a URL for a browser, or a curl command for a Unix socket.
func adminAddress(address net.Addr) string {
	network, target, err := config.Dialable("admin-listen", address.String())
	switch {
	case err != nil:
		return address.String()
	case network == "unix":
		return "curl --unix-socket " + target + " http://pgflurry/"
	}
	return "http://" + target + "/"
}

// draw is an ID, and how it was drawn.
type draw struct {
	how string
	id  int64
}

// drawAll draws an ID in each way. Its table is temporary: the demo must leave no table in a user's own server.
func drawAll(ctx context.Context, conn *pgx.Conn) ([]draw, error) {
	if _, err := conn.Exec(ctx, tableSQL); err != nil {
		return nil, fmt.Errorf("no table for the demo: %w", err)
	}
	sources := []struct {
		how, sql string
		mode     pgx.QueryExecMode
	}{
		{"SELECT, simple protocol", drawSQL, pgx.QueryExecModeSimpleProtocol},
		{"SELECT, extended protocol", drawSQL, pgx.QueryExecModeExec},
		{"SELECT, prepared statement", drawSQL, pgx.QueryExecModeCacheStatement},
		{"INSERT with DEFAULT next_snowflake()", insertSQL, pgx.QueryExecModeCacheStatement},
	}
	var draws []draw
	seen := map[int64]bool{}
	for _, source := range sources {
		d := draw{how: source.how}
		if err := conn.QueryRow(ctx, source.sql, source.mode).Scan(&d.id); err != nil {
			return nil, fmt.Errorf("%s: %w", source.how, err)
		}
		if seen[d.id] {
			return nil, fmt.Errorf("%s gave ID %d a second time", source.how, d.id)
		}
		seen[d.id] = true
		draws = append(draws, d)
	}
	return draws, nil
}

func printDraws(out io.Writer, ns namespace.Namespace, draws []draw) error {
	fmt.Fprintln(out, "\nFirst IDs, through the proxy:")
	fmt.Fprintln(out)
	aligned := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, d := range draws {
		parts, err := ns.Layout.Decode(d.id)
		if err != nil {
			return fmt.Errorf("%s gave ID %d: %w", d.how, d.id, err)
		}
		who := "the proxy, from memory"
		if ns.Functions.Has(parts.Worker) {
			who = "the function in PostgreSQL"
		}
		fmt.Fprintf(aligned, "    %d\tworker %d, %s\t%s\n", d.id, parts.Worker, who, d.how)
	}
	return aligned.Flush()
}

// throughProxy is the server's connection string with the proxy's address. The proxy of a demo has no TLS.
func throughProxy(server string, address net.Addr) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return nil, err
	}
	config.TLSConfig, config.Fallbacks = nil, nil
	config.StatementCacheCapacity = max(config.StatementCacheCapacity, 1) // the URL may have switched it off
	config.Host, config.Port, err = clientAddress(address)
	return config, err
}

// clientAddress splits a listening address for a client's connection string: host and port, or the folder of a Unix
// socket and its port.
func clientAddress(address net.Addr) (host string, port uint16, err error) {
	network, target, err := config.Dialable("listen", address.String())
	if err != nil {
		return "", 0, err
	}
	var number string
	if network == "unix" {
		var named bool
		if number, named = strings.CutPrefix(filepath.Base(target), ".s.PGSQL."); !named {
			return "", 0, fault.WithKind(fault.Usage, fmt.Errorf("--listen %s: clients find a Unix socket only if "+
				"it is named .s.PGSQL.PORT, such as .s.PGSQL.6532", target))
		}
		host = filepath.Dir(target)
	} else if host, number, err = net.SplitHostPort(target); err != nil {
		return "", 0, err
	}
	wide, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %s: %q is no port", target, number)
	}
	return host, uint16(wide), nil
}

// pasteLine is a psql command that draws an ID. It shows no password: psql asks for one.
func pasteLine(config *pgx.ConnConfig) string {
	u := url.URL{
		Scheme: "postgres", User: url.User(config.User), Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	if filepath.IsAbs(config.Host) {
		u.RawQuery = url.Values{"host": {config.Host}, "port": {strconv.Itoa(int(config.Port))}}.Encode()
	} else {
		u.Host = net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	}
	return fmt.Sprintf("psql '%s' -c '%s'", u.String(), "SELECT next_snowflake()")
}

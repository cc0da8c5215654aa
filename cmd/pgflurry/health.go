package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/fault"
)

// defaultAdmin is the default address of demo for operators, which health asks for probes.
const defaultAdmin = "127.0.0.1:6533"

// newHealth builds "pgflurry health". It serves as the health check of an image that has no shell.
func newHealth() *cobra.Command {
	var listen, operators string
	var ready, ids, idDatabase bool
	var timeout time.Duration
	var find bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running proxy whether it accepts connections, or is ready",
		Long: `health connects to the address that "pgflurry serve" listens on, and sends the first message of a
PostgreSQL client. It exits 0 if the proxy answers. It exits 4 if nothing is there or nothing answers,
and 1 if something other than a proxy answers. It asks the proxy alone: a proxy whose PostgreSQL is
down is healthy, and a restart would not help.

With one of these flags it asks the admin listener instead. It exits 1 if the answer is no, and says
why:

  --ready        a new session is served: the proxy has a place, and reaches PostgreSQL
  --ids          the same, and all listed databases get their IDs from memory now
  --id-database  a new session of the ID database is served, and gets IDs; PostgreSQL may be away

With --find it takes both addresses from the "pgflurry serve" that runs here: from its flags, its
environment and its configuration file. The health check of the image does so.`,
		Example: `  pgflurry health --listen 127.0.0.1:6432
  PGFLURRY_LISTEN=/run/pgflurry/.s.PGSQL.6432 pgflurry health
  pgflurry health --ready --admin-listen 127.0.0.1:6533`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			if find {
				proxy, err := findRunning(0)
				if err != nil {
					return err
				}
				o := proxy.options()
				listen, operators = o.given.Listen, o.given.AdminListen
				if operators == "" && (ready || ids || idDatabase) {
					return fmt.Errorf("process %d has no --admin-listen, which answers that", proxy.pid)
				}
			}
			switch {
			case ready:
				return askVerdict(ctx, operators, "/readyz")
			case ids:
				return askVerdict(ctx, operators, "/readyz/ids")
			case idDatabase:
				return askVerdict(ctx, operators, "/readyz/id-database")
			}
			return probe(ctx, listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", config.UsualListen,
		"address the proxy listens on, as given to serve: host:port or path of a Unix socket")
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether a new session is served")
	cmd.Flags().BoolVar(&ids, "ids", false, "ask the same, and whether all IDs come from memory")
	cmd.Flags().BoolVar(&idDatabase, "id-database", false, "ask whether a session of the ID database gets IDs")
	cmd.Flags().StringVar(&operators, "admin-listen", defaultAdmin,
		"address for operators, as given to serve, for the three flags above")
	source.Describe(cmd.Flags(), config.Row{Name: "listen", File: true})
	source.Describe(cmd.Flags(), config.Row{Name: "admin-listen", File: true})
	cmd.MarkFlagsMutuallyExclusive("ready", "ids", "id-database")
	cmd.Flags().BoolVar(&find, "find", false, "find the addresses of the proxy that runs here")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Second, "how long the answer may take")
	return cmd
}

// sslRequest asks whether the server speaks TLS. Every PostgreSQL server answers it with one byte, and starts no
// session.
const sslRequest = 80877103

// probe sends an SSLRequest and expects 'S' or 'N'.
func probe(ctx context.Context, listen string) error {
	network, address, err := config.Dialable("listen", listen)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return fault.WithKind(fault.Unreachable, fault.WithHint(fmt.Errorf("nothing accepts connections: %w", err),
			`Is "pgflurry serve" running here, with the same --listen?`))
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	request := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 8), sslRequest)
	if _, err := conn.Write(request); err != nil {
		return fault.WithKind(fault.Unreachable,
			fmt.Errorf("%s accepts a connection, but takes no message: %w", address, err))
	}
	var answer [1]byte
	switch _, err := io.ReadFull(conn, answer[:]); {
	case errors.Is(err, io.EOF):
		return fault.WithKind(fault.Unreachable, fmt.Errorf("%s ends the connection without an answer", address))
	case err != nil:
		return fault.WithKind(fault.Unreachable,
			fmt.Errorf("%s accepts a connection, but does not answer: %w", address, err))
	case answer[0] != 'S' && answer[0] != 'N':
		return fmt.Errorf("%s answers %q, which no PostgreSQL proxy does; is --listen right?", address, answer[0])
	}
	return nil
}

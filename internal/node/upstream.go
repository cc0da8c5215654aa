package node

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/proxy"
)

// askTimeout limits a login of a connection of the node's own, and a question over it.
const askTimeout = 5 * time.Second

// throughUpstream is how the lease role reaches the upstream: in the same way as sessions, TLS included.
func throughUpstream(
	config *pgx.ConnConfig, upstream []proxy.Host, dial func(context.Context) (net.Conn, error),
) *pgx.ConnConfig {
	there := config.Copy()
	there.Fallbacks, there.TLSConfig, there.ValidateConnect = nil, nil, nil
	first := upstream[0] // named in messages; dial decides where to connect
	there.Host, there.Port = first.Address, 0
	if first.Network == "tcp" {
		host, port, err := net.SplitHostPort(first.Address)
		if number, bad := strconv.ParseUint(port, 10, 16); err == nil && bad == nil {
			there.Host, there.Port = host, uint16(number)
		}
	}
	if len(upstream) > 1 {
		var all []string
		for _, h := range upstream {
			all = append(all, h.Address)
		}
		there.Host = strings.Join(all, ",")
	}
	there.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	there.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	return there
}

package namespace

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Identity says whether a database and its server are those that the row was written for.
type Identity struct {
	// NewServer says why the server is not the known one, so it may be a copy that nobody has declared. Empty: it is.
	NewServer string
	// RefusesNew: the row asks to refuse a new server. Then Copied says why.
	RefusesNew bool

	copied string // why this is not the database that the row was written for; "": it is
	toNote bool   // the row does not remember this server as it is now
}

// Noted lets the row remember the server of conn, if the look that has read n says that there is something to remember.
// Nothing depends on it: the next look tries again, so the caller may ignore an error.
func (n Namespace) Noted(ctx context.Context, conn *pgx.Conn) error {
	if !n.toNote {
		return nil
	}
	_, err := conn.Exec(ctx, sql.NoteServer, Reached(conn))
	return err
}

// Reached lists the addresses by which a connection may reach its server, as the row remembers them. Hosts that are
// named together are members of one cluster, wherever the connection is.
func Reached(conn *pgx.Conn) string {
	c := conn.Config()
	hosts := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port}}, c.Fallbacks...)
	var all []string
	add := func(address string) {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	for _, h := range hosts {
		for _, host := range strings.Split(h.Host, ",") { // an upstream's are named so
			name, port, err := net.SplitHostPort(host)
			number, notNumber := strconv.ParseUint(port, 10, 16)
			if err == nil && notNumber == nil {
				add(Address(name, uint16(number)))
			} else {
				add(Address(host, h.Port))
			}
		}
	}
	return strings.Join(all, " ")
}

// Address is host:port of a server. It replaces a host that means "this machine" by the machine's name, because on
// another machine the same words mean another server.
func Address(host string, port uint16) string {
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || host == "" || host[0] == '/' || host[0] == '@' || err == nil && ip.IsLoopback() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

const (
	usualMode fs.FileMode = 0o777 // the default of Settings.ListenMode
	byUmask   fs.FileMode = 0     // for listen: the process's umask decides
)

// Listen opens the listener for clients. It takes over a Unix socket that no process serves any more. The mode of such
// a socket says who may connect.
func Listen(at config.Address, mode fs.FileMode) (net.Listener, error) {
	if mode == 0 {
		mode = usualMode
	}
	return listen("listen", at, mode)
}

// listen opens an address. Errors name the flag.
func listen(flag string, at config.Address, mode fs.FileMode) (net.Listener, error) {
	network, address := at.Network, at.Address
	if network == "unix" {
		switch c, err := net.DialTimeout(network, address, time.Second); {
		case err == nil:
			c.Close()
			return nil, fmt.Errorf("--%s %s: another process serves that socket; stop it or choose another path",
				flag, address)
		case connect.Refused(err):
			if info, err := os.Lstat(address); err != nil || info.Mode().Type() != os.ModeSocket {
				return nil, fmt.Errorf("--%s %s: there is a file that is no socket; choose another path", flag, address)
			}
			if isHeld(address) {
				return nil, fmt.Errorf("--%s %s: another process holds that socket, and does not listen on it; "+
					"stop it or choose another path", flag, address)
			}
			if err := os.Remove(address); err != nil {
				return nil, fmt.Errorf("--%s %s: removing the socket a former process left: %w", flag, address, err)
			}
		}
	}
	var open net.ListenConfig
	if network == "unix" && mode != byUmask {
		open.Control = closedToOthers
	}
	ln, err := open.Listen(context.Background(), network, address)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w; %s", flag, address, err, whatToDo(err, network))
	}
	if open.Control != nil {
		if err := os.Chmod(address, mode); err != nil {
			ln.Close()
			return nil, fmt.Errorf("--%s %s: the socket cannot get the mode %04o: %w", flag, address, mode, err)
		}
	}
	return ln, nil
}

// whatToDo is what helps where a listener cannot be opened.
func whatToDo(err error, network string) string {
	switch {
	case errors.Is(err, fs.ErrPermission) && network == "unix":
		return "choose a folder in which this user may make files"
	case errors.Is(err, fs.ErrPermission):
		return "choose a port above 1023, or give the program the capability CAP_NET_BIND_SERVICE"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "choose an address of this machine"
	}
	return "choose another address, or stop what uses it"
}

// openListener opens the listener for clients, or takes the one that was handed over. It refuses a proxy in front of
// itself.
func openListener(s config.Settings) (ln net.Listener, err error) {
	if ln = s.Listener; ln == nil {
		ln, err = Listen(s.At, s.ListenMode)
	}
	if err != nil {
		return nil, err
	}
	err = notItself(ln.Addr(), s.Hosts, s.Lease.Config)
	if address := config.Elsewhere(ln.Addr()); err == nil && address != "" && s.IDDatabase.Auth == config.IDAuthTrust {
		err = config.TrustedElsewhere(address) // "localhost" may be another machine
	}
	if err != nil {
		ln.Close()
		return nil, fault.WithKind(fault.Usage, err)
	}
	return ln, nil
}

// notItself refuses a proxy in front of itself: each connection would open another one, for ever. A lease database
// behind the proxy itself is refused, too: at the end the worker could not be released.
func notItself(own net.Addr, upstream []config.Address, leaseDatabase *pgx.ConnConfig) error {
	for _, h := range upstream {
		if isOwn(own, h.Network, h.Address) {
			return fmt.Errorf("--upstream %s is this proxy's own --listen; name the PostgreSQL server behind it",
				h.Address)
		}
	}
	leaseNetwork, leaseAddress := pgconn.NetworkAddress(leaseDatabase.Host, leaseDatabase.Port)
	if isOwn(own, leaseNetwork, leaseAddress) {
		return fmt.Errorf("--lease-database leads to %s, this proxy's own --listen; name the PostgreSQL server itself",
			leaseAddress)
	}
	return nil
}

// isOwn says whether a connection to address would reach the listener at own.
func isOwn(own net.Addr, network, address string) bool {
	if network == "unix" || own.Network() == "unix" {
		return network == own.Network() && address == own.String()
	}
	there, err := net.ResolveTCPAddr(network, address)
	here, ok := own.(*net.TCPAddr)
	if err != nil || !ok || there.Port != here.Port {
		return false
	}
	return there.IP.Equal(here.IP) || there.IP == nil || (here.IP.IsUnspecified() && there.IP.IsLoopback())
}

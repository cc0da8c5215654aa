package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// An Address is where a listener or a server is: Network is "tcp" or "unix". The zero value is none.
type Address struct{ Network, Address string }

// ParseAddress reads an address as people give it. A path is a Unix socket. A directory stands for PostgreSQL's socket
// in it, of port 5432 or of the port after a colon. Errors name the flag.
func ParseAddress(flag, address string) (Address, error) {
	switch {
	case address == "":
		return Address{}, missing(flag, "; expected HOST:PORT or the path of a Unix socket")
	case filepath.IsAbs(address):
		folder, port := cutPort(address)
		switch {
		case isFolder(address):
			address = filepath.Join(address, ".s.PGSQL.5432")
		case isFolder(folder):
			address = filepath.Join(folder, ".s.PGSQL."+port)
		}
		if len(address) > connect.LongestSocketPath {
			return Address{}, in(flag, fault.WithHint(
				fmt.Errorf("--%s %s: the path of the socket has %d bytes, and this system allows %d", flag, address,
					len(address), connect.LongestSocketPath), "Choose a shorter folder, or use TCP."))
		}
		return Address{"unix", address}, nil
	case !hasPort(address), connect.MayHoldPassword(address):
		return Address{}, wrong(flag, "--%s is %s; expected HOST:PORT or the absolute path of a Unix socket",
			flag, connect.Shown(address))
	}
	return Address{"tcp", address}, nil
}

// cutPort cuts the port after the last colon off a path. Without a port the folder is empty.
func cutPort(path string) (folder, port string) {
	at := strings.LastIndexByte(path, ':')
	if at < 0 {
		return "", ""
	}
	if _, err := strconv.ParseUint(path[at+1:], 10, 16); err != nil {
		return "", ""
	}
	return path[:at], path[at+1:]
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// hasPort says whether an address ends in a port: a number of 16 bits, or the name of a service of this system.
func hasPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

// ParseUpstream reads the list of hosts behind the proxy.
func ParseUpstream(list string) ([]Address, error) {
	var hosts []Address
	for address := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(address) == "" && list != "" {
			return nil, wrong("upstream",
				"--upstream has an empty host between or behind its commas; expected HOST:PORT,HOST:PORT")
		}
		h, err := ParseAddress("upstream", strings.TrimSpace(address))
		if err != nil {
			return nil, err
		}
		if slices.Contains(hosts, h) {
			return nil, wrong("upstream", "--upstream names %s twice; expected each host once", h.Address)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// IsRemote says whether an address is reached over a network.
func (a Address) IsRemote() bool {
	host, _, err := net.SplitHostPort(a.Address)
	return a.Network == "tcp" && err == nil && !isLoopback(host)
}

// isLoopback says whether only this machine reaches a host.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Elsewhere is the address of an open listener if other machines may reach it; empty if only this one does.
func Elsewhere(own net.Addr) string {
	if tcp, is := own.(*net.TCPAddr); is && !tcp.IP.IsLoopback() {
		return own.String()
	}
	return ""
}

// Dialable turns an address to listen on into one to connect to: "every interface" becomes the loopback. Errors name
// the flag.
func Dialable(flag, listen string) (network, address string, err error) {
	at, err := ParseAddress(flag, listen)
	if err != nil || at.Network == "unix" {
		return at.Network, at.Address, err
	}
	host, port, err := net.SplitHostPort(at.Address)
	if err != nil {
		return "", "", fault.WithKind(fault.Usage, fmt.Errorf("--%s %s: %w", flag, listen, err))
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return at.Network, net.JoinHostPort(host, port), nil
}

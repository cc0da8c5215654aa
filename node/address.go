package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/outcome"
	"pgflurry/proxy"
)

// ParseAddress reads an address as people give it. A path is a Unix socket. A directory stands for PostgreSQL's socket
// in it, of port 5432 or of the port after a colon. Errors name the flag.
func ParseAddress(flag, address string) (network, place string, err error) {
	switch {
	case address == "":
		return "", "", outcome.As(outcome.Usage,
			fmt.Errorf("--%s is missing; expected HOST:PORT or the path of a Unix socket", flag))
	case filepath.IsAbs(address):
		folder, port := cutPort(address)
		switch {
		case isFolder(address):
			address = filepath.Join(address, ".s.PGSQL.5432")
		case isFolder(folder):
			address = filepath.Join(folder, ".s.PGSQL."+port)
		}
		if len(address) > connstring.LongestSocketPath {
			return "", "", outcome.As(outcome.Usage, hint.With(
				fmt.Errorf("--%s %s: the path of the socket has %d bytes, and this system allows %d", flag, address,
					len(address), connstring.LongestSocketPath), "Choose a shorter folder, or use TCP."))
		}
		return "unix", address, nil
	case !hasPort(address), connstring.MayHoldPassword(address):
		return "", "", outcome.As(outcome.Usage,
			fmt.Errorf("--%s is %s; expected HOST:PORT or the absolute path of a Unix socket",
				flag, connstring.Shown(address)))
	}
	return "tcp", address, nil
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

// parseUpstream reads the list of hosts behind the proxy.
func parseUpstream(list string) ([]proxy.Host, error) {
	var hosts []proxy.Host
	for address := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(address) == "" && list != "" {
			return nil, outcome.As(outcome.Usage,
				errors.New("--upstream has an empty host between or behind its commas; expected HOST:PORT,HOST:PORT"))
		}
		network, place, err := ParseAddress("upstream", strings.TrimSpace(address))
		if err != nil {
			return nil, err
		}
		h := proxy.Host{Network: network, Address: place}
		if slices.Contains(hosts, h) {
			return nil, outcome.As(outcome.Usage,
				fmt.Errorf("--upstream names %s twice; expected each host once", place))
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// address is where others can reach the node. A loopback address or the path of a socket is valid on this machine only.
// The name of the node, beside it in the table, says which machine that is.
func (n *Node) address() string {
	if n.settings.Advertise != "" {
		return n.settings.Advertise
	}
	own := n.Addr()
	if tcp, is := own.(*net.TCPAddr); is && tcp.IP.IsUnspecified() && n.settings.Host != "" {
		return net.JoinHostPort(n.settings.Host, strconv.Itoa(tcp.Port))
	}
	return own.String()
}

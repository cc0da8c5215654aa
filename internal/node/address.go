package node

import (
	"net"
	"strconv"
)

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

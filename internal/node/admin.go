package node

import (
	"context"
	"net"

	"pgflurry/internal/admin"
	"pgflurry/internal/config"
)

// openAdmin opens the listener for operators, if there is one.
func openAdmin(a config.Admin) (net.Listener, error) {
	switch {
	case a.Listener != nil:
		return a.Listener, nil
	case a.At == config.Address{}:
		return nil, nil
	}
	return listen("admin-listen", a.At, byUmask)
}

// AdminAddr is the address of the listener for operators; nil: there is none.
func (n *Node) AdminAddr() net.Addr {
	if n.admin == nil {
		return nil
	}
	return n.admin.Addr()
}

// serveOperators serves operators until end is called. Run ends it last.
func (n *Node) serveOperators() (end func()) {
	if n.admin == nil {
		return func() {}
	}
	n.log.Info("listening for operators", "address", n.admin.Addr(), "pprof", n.settings.Admin.Pprof)
	if tcp, is := n.admin.Addr().(*net.TCPAddr); is && !tcp.IP.IsLoopback() {
		n.log.Warn("the admin listener is no loopback address: whoever reaches it sees the state of this node",
			"address", tcp, "hint", "It changes nothing, and asks for no password. Listen on 127.0.0.1, "+
				"or let a firewall pass only Prometheus, probes and operators.")
	}
	name, _, _ := net.SplitHostPort(n.settings.Admin.At.Address)
	server := admin.New(admin.Settings{Name: name, Node: n, Log: n.log, Pprof: n.settings.Admin.Pprof})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(ctx, n.admin); err != nil {
			n.log.Error("the admin listener has ended; clients are served as before", "cause", err)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

package proxy

import (
	"context"
	"net"

	"pgflurry/proxy/internal/wire"
)

const (
	// keyOffset is where the key begins in a CancelRequest: after length and code.
	keyOffset = wire.StartupHead
	// maxKey is the length of the longest key: a process number and up to 256 bytes.
	maxKey = 4 + 256
)

// dial connects to upstream for a packet that begins no session. A cancel request goes to the very address that its
// session is connected to. An unknown key may belong to another proxy behind the same balancer. Such a request goes
// where new sessions go, as every other packet does.
func (o cancelRelay) dial(ctx context.Context, packet startupPacket) (net.Conn, error) {
	e := o.sessionOf(packet)
	if e == nil {
		return o.hosts.dial(ctx, nil)
	}
	ctx, cancel := o.hosts.limited(ctx)
	defer cancel()
	to := o.hosts.dialer(e.upstream.host)
	if to.Network != "unix" {
		to.Address = e.upstream.RemoteAddr().String()
	}
	return to.dial(ctx, nil)
}

// sessionOf finds the session whose statement the client cancels; nil if it is not a session of this proxy.
func (o cancelRelay) sessionOf(packet startupPacket) *pair {
	if !packet.cancel {
		return nil
	}
	of, _ := o.registry.OfKey(string(packet.raw[keyOffset:]))
	return of
}

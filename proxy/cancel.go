package proxy

import (
	"context"
	"net"
)

const (
	// keyOffset is where the key begins in a CancelRequest: after length and code.
	keyOffset = lengthSize + codeSize
	// maxKey is the length of the longest key: a process number and up to 256 bytes.
	maxKey = 4 + 256
)

// rememberKey remembers, before the first ReadyForQuery, the key with which a client can cancel the session's
// statements.
func (s *session) rememberKey(key []byte) {
	if s.ready || len(key) > maxKey {
		return
	}
	s.proxy.registry.setKey(s, string(key))
}

// dialOnce connects to upstream for a packet that begins no session. A cancel request goes to the very address that its
// session is connected to. An unknown key may belong to another proxy behind the same balancer. Such a request goes
// where new sessions go, as every other packet does.
func (p *Proxy) dialOnce(ctx context.Context, o opening) (net.Conn, error) {
	s := p.sessionOf(o)
	if s == nil {
		return p.hosts.dial(ctx, nil)
	}
	ctx, cancel := p.hosts.limited(ctx)
	defer cancel()
	to := s.dialer()
	if to.Network != "unix" {
		to.Address = s.upstream.RemoteAddr().String()
	}
	return to.dial(ctx, nil)
}

// sessionOf finds the session whose statement the client cancels; nil if it is not a session of this proxy.
func (p *Proxy) sessionOf(o opening) *session {
	if !o.cancel {
		return nil
	}
	return p.registry.ofKey(string(o.raw[keyOffset:]))
}

package proxy

import (
	"context"
	"net"
)

const (
	// keyOffset is where the key begins in a CancelRequest, behind its length and code.
	keyOffset = lengthSize + codeSize
	// maxKey is the longest key: a process and up to 256 bytes.
	maxKey = 4 + 256
)

// rememberKey notes by which key upstream lets the session's statements be cancelled, before its first ReadyForQuery.
func (s *session) rememberKey(key []byte) {
	if s.ready || len(key) > maxKey {
		return
	}
	p := s.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys[s.key] == s {
		delete(p.keys, s.key)
	}
	s.key = string(key)
	p.keys[s.key] = s
}

// dialOnce connects for a packet that begins no session. A request to cancel a statement goes to the very address where
// the session of its key is. One whose key is of no session here may be that of another proxy, behind a balancer. It
// goes where new sessions go, as all else does.
func (p *Proxy) dialOnce(ctx context.Context, o opening) (net.Conn, error) {
	s := p.sessionOf(o)
	if s == nil {
		return p.dialUpstream(ctx, nil)
	}
	ctx, cancel := p.dialing(ctx)
	defer cancel()
	to := s.way()
	if to.Network != "unix" {
		to.Address = s.upstream.RemoteAddr().String()
	}
	return to.dial(ctx, nil)
}

// sessionOf finds the session whose statement is to be cancelled; nil: it is none of this proxy's.
func (p *Proxy) sessionOf(o opening) *session {
	if !o.cancel {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[string(o.raw[keyOffset:])]
}

package proxy

import (
	"errors"
	"time"
)

const defaultHandshakeTimeout = 5 * time.Second

// Change replaces the limits, the timeouts of clients and TLS of both sides by those of s. It ignores everything else
// in s. The new rules hold for later connections: sessions go on as they are, and a lower limit ends none that has
// logged in. After an error nothing has changed.
func (p *Proxy) Change(s Settings) error {
	if s.AskPassword && !s.RequireTLS || s.RequireTLS && s.ClientTLS == nil {
		return errors.New("proxy settings ask for passwords without requiring TLS, " +
			"or require TLS without a certificate")
	}
	useTLS, err := p.hosts.prepare(s.UpstreamTLS)
	if err != nil {
		return err
	}
	if s.LoginTimeout == 0 {
		s.LoginTimeout = defaultLoginTimeout
	}
	if s.HandshakeTimeout == 0 {
		s.HandshakeTimeout = defaultHandshakeTimeout
	}
	useTLS()
	p.rules.Store(&rules{
		loginTimeout: s.LoginTimeout, handshakeTimeout: s.HandshakeTimeout,
		clientTLS: s.ClientTLS, requireTLS: s.RequireTLS, askPassword: s.AskPassword,
	})
	p.limits.Set(s.MaxClients, s.MaxLogins, s.MaxLoginsPerAddress, s.MaxSessions)
	return nil
}

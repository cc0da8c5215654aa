package proxy

import (
	"errors"
	"time"

	"pgflurry/proxy/pgtls"
)

const (
	defaultLoginTimeout     = 60 * time.Second
	defaultHandshakeTimeout = 5 * time.Second
)

// Rules are the limits, the timeouts of clients, and TLS of both sides: what a reload changes.
type Rules struct {
	// MaxSessions is how many sessions may be open at once, each a connection to upstream; no limit if zero or less. A
	// session counts from before the proxy connects to upstream until both its connections are closed. Cancel requests
	// have a limit of their own. If all places are taken, a session that has not logged in gives way as under
	// MaxLogins. So nobody can fill them without a password.
	MaxSessions int
	// MaxClients is how many connections of clients may be open at once, whatever they are for; no limit if zero or
	// less. The proxy closes any more. Each needs up to two descriptors. A session of Inside needs one, and counts
	// half.
	MaxClients int
	// MaxLogins is how many connections may be open at once that have not said what they want; no limit if zero or
	// less. A connection of Inside counts until it has logged in. At the limit, the proxy closes the newcomer or an
	// older connection. The older one has had its time, or comes from an address with many more of them (package
	// admission). As many more may wait for one of MaxUpstreamLogins.
	MaxLogins int
	// MaxUpstreamLogins is how many sessions may be logging in at upstream at once; no limit if zero or less. A session
	// counts from the dial until upstream has let the client in. A newcomer waits up to admission.SlotPatience, then
	// the proxy refuses it. The proxy's own connections do not count.
	MaxUpstreamLogins int
	// MaxLoginsPerAddress is the same for each address of clients; no limit if zero or less. A /64 network of IPv6
	// counts as one address, and so do all Unix sockets.
	MaxLoginsPerAddress int
	// HandshakeTimeout bounds a TLS handshake with a client, from the moment at which it may begin; 5 s if zero.
	HandshakeTimeout time.Duration
	// LoginTimeout bounds the time from accept to the first ReadyForQuery, without DialTimeout; 60 s if zero.
	LoginTimeout time.Duration
	// ClientTLS is the TLS that clients get if they ask for it; nil refuses it.
	ClientTLS *pgtls.Client
	// RequireTLS refuses sessions without TLS. It lets cancel requests without TLS pass, because libpq before 17 sends
	// them so.
	RequireTLS bool
	// UpstreamTLS protects the connections to upstream.
	UpstreamTLS pgtls.Upstream
	// AskPassword makes the proxy log in for its clients. If upstream wants a password by any method, the proxy asks
	// the client for it in clear text. It keeps nothing of the password. Needs RequireTLS.
	AskPassword bool
}

// Change replaces the rules. They hold for later connections: sessions go on as they are, and a lower limit ends none
// that has logged in. After an error nothing has changed.
func (p *Proxy) Change(r Rules) error {
	if r.AskPassword && !r.RequireTLS || r.RequireTLS && r.ClientTLS == nil {
		return errors.New("proxy settings ask for passwords without requiring TLS, " +
			"or require TLS without a certificate")
	}
	useTLS, err := p.hosts.prepare(r.UpstreamTLS)
	if err != nil {
		return err
	}
	if r.LoginTimeout == 0 {
		r.LoginTimeout = defaultLoginTimeout
	}
	if r.HandshakeTimeout == 0 {
		r.HandshakeTimeout = defaultHandshakeTimeout
	}
	useTLS()
	p.rules.Store(&r)
	p.limits.Set(r.MaxClients, r.MaxLogins, r.MaxLoginsPerAddress, r.MaxUpstreamLogins, r.MaxSessions)
	return nil
}

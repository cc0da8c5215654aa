package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// passOnce passes on a packet that begins no session. If too many are on their way, it drops the packet and logs only
// that. A CancelRequest promises nothing.
func (p *Proxy) passOnce(client net.Conn, o opening, a *admitted, log *slog.Logger) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	slot := p.limits.Cancels.Enter(a.From, cancel)
	if slot == nil {
		p.limits.TurnAway()
		p.countOnce(o, cancelDropped, loginFailed)
		log.Warn("request to cancel a statement dropped: too many are on their way")
		return
	}
	defer p.limits.Cancels.Leave(slot)
	err := p.relayOnce(ctx, client, o)
	switch {
	case ctx.Err() != nil: // it gave way, or the proxy ends
		p.countOnce(o, cancelDropped, loginFailed)
	case err == nil:
		p.countOnce(o, cancelPassed, loginRefused)
	case o.cancel:
		p.counters.count(cancelFailed)
		log.Warn("cancel request was not passed on", "cause", err)
	default:
		p.counters.count(loginFailed)
		tellClient(client, unreachable(err))
		log.Warn("a startup packet that PostgreSQL would refuse was not passed on", "cause", err)
	}
}

// countOnce counts a cancel request, or else a login that PostgreSQL will refuse.
func (p *Proxy) countOnce(o opening, cancel, login result) {
	if o.cancel {
		p.counters.count(cancel)
	} else {
		p.counters.count(login)
	}
}

// relayOnce passes on one packet, and upstream's reply until upstream closes. A CancelRequest has no reply. As with
// libpq, the client takes the close as the sign that upstream has handled it.
func (p *Proxy) relayOnce(ctx context.Context, client net.Conn, o opening) error {
	upstream, err := p.dialOnce(ctx, o)
	if err != nil {
		return err
	}
	defer upstream.Close()
	defer context.AfterFunc(ctx, func() { upstream.Close() })()
	deadline := time.Now().Add(p.hosts.timeout)
	if err := errors.Join(upstream.SetDeadline(deadline), client.SetDeadline(deadline)); err != nil {
		return err
	}
	if _, err := upstream.Write(o.raw); err != nil {
		return err
	}
	_, err = io.Copy(client, upstream)
	return err
}

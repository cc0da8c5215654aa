package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/frontend"
)

// cancelRelay passes on packets that begin no session.
type cancelRelay struct {
	hosts    *hosts
	registry *frontend.Registry[*pair]
	counters *counters
	limits   *admission.Limits
}

// pass passes on a packet of a client at this address. If too many are on their way, it drops the packet and logs only
// that. A CancelRequest promises nothing.
func (o cancelRelay) pass(
	ctx context.Context, client net.Conn, packet startupPacket, from netip.Prefix, log *slog.Logger,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slot := o.limits.Cancels.Enter(from, cancel)
	if slot == nil {
		o.limits.TurnAway()
		o.count(packet, cancelDropped, loginFailed)
		log.Warn("request to cancel a statement dropped: too many are on their way")
		return
	}
	defer o.limits.Cancels.Leave(slot)
	err := o.relay(ctx, client, packet)
	switch {
	case ctx.Err() != nil: // it gave way, or the proxy ends
		o.count(packet, cancelDropped, loginFailed)
	case err == nil:
		o.count(packet, cancelPassed, loginRefused)
	case packet.cancel:
		o.counters.count(cancelFailed)
		log.Warn("cancel request was not passed on", "cause", err)
	default:
		o.counters.count(loginFailed)
		tellClient(client, unreachable(err))
		log.Warn("a startup packet that PostgreSQL would refuse was not passed on", "cause", err)
	}
}

// count counts a cancel request, or else a login that PostgreSQL will refuse.
func (o cancelRelay) count(packet startupPacket, cancel, login result) {
	if packet.cancel {
		o.counters.count(cancel)
	} else {
		o.counters.count(login)
	}
}

// relay passes on one packet, and upstream's reply until upstream closes. A CancelRequest has no reply. As with
// libpq, the client takes the close as the sign that upstream has handled it.
func (o cancelRelay) relay(ctx context.Context, client net.Conn, packet startupPacket) error {
	upstream, err := o.dial(ctx, packet)
	if err != nil {
		return err
	}
	defer upstream.Close()
	defer context.AfterFunc(ctx, func() { upstream.Close() })()
	deadline := time.Now().Add(o.hosts.timeout)
	if err := errors.Join(upstream.SetDeadline(deadline), client.SetDeadline(deadline)); err != nil {
		return err
	}
	if _, err := upstream.Write(packet.raw); err != nil {
		return err
	}
	_, err = io.Copy(client, upstream)
	return err
}

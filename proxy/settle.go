package proxy

import "context"

// Settle returns when each connection that was accepted has become a session or is over, or when ctx ends. A client of
// Inside is a session once it has logged in. With it, a proxy whose listening socket goes on to another process refuses
// nobody whom it has accepted: the caller closes the listener, and calls Settle once Serve has returned, and then
// Drain.
func (p *Proxy) Settle(ctx context.Context) {
	for {
		p.mu.Lock()
		arriving, changed := p.arriving, p.changed
		p.mu.Unlock()
		if arriving == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// arrives: a connection was accepted.
func (p *Proxy) arrives() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arriving++
}

// arrived: a connection that was accepted is a session, or is over.
func (p *Proxy) arrived() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arriving--
	p.changedLocked()
}

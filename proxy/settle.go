package proxy

import "context"

// Settle waits until each accepted connection has become a session or is over, or until ctx ends. A client of Inside
// counts as a session once it has logged in. With Settle, a handover of the listening socket refuses no client that was
// accepted. The caller closes the listener, waits for Serve to return, calls Settle, and then Drain.
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

// arrives counts an accepted connection.
func (p *Proxy) arrives() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arriving++
}

// arrived says that an accepted connection is a session now, or is over.
func (p *Proxy) arrived() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arriving--
	p.changedLocked()
}

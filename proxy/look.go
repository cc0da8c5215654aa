package proxy

import "time"

// defaultLookEvery is how often blind waits (frame/blind.go) are looked at. A busy session is not disturbed, nor is one that is idle for
// longer.
const defaultLookEvery = 500 * time.Millisecond

// lookAgain ends the blind waits that were there when it was called last. It calls itself as long as there are sessions.
func (p *Proxy) lookAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		s.fromClient.LookAgain()
		s.fromUpstream.LookAgain()
	}
	if len(p.sessions) > 0 {
		p.looks.Reset(p.lookEvery)
	}
}

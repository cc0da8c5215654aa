package proxy

import (
	"runtime"
	"testing"
	"time"
)

// looksFromNow changes how often the waits are looked at, now that there are sessions.
func (r *rig) looksFromNow(every time.Duration) {
	p := r.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lookEvery = every
	p.looks.Reset(every)
}

// becomes waits until the waits of both inboxes are as expected.
func (r *rig) becomes(what string, ok func(client, upstream bool) bool) {
	r.t.Helper()
	s := r.only()
	for end := time.Now().Add(giveUp); ; runtime.Gosched() {
		client, upstream := s.fromClient.Blind(), s.fromUpstream.Blind()
		if ok(client, upstream) {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("the wait for the client is blind: %v, that for upstream: %v; expected %s", client, upstream, what)
		}
	}
}

func TestAWaitIsBlindOnlyWhereItIsTheOtherSidesTurn(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	r.looks(time.Hour)
	r.upstream = r.starts(r.client)
	r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('I')))
	r.becomes("both", func(client, upstream bool) bool { return client && upstream })
	r.send(parse("s", "SELECT 1"), flushIt)
	r.toUpstream(parse("s", "SELECT 1"), flushIt)
	r.reply(parseDone)
	r.toClient(parseDone)
	r.becomes("neither", func(client, upstream bool) bool { return !client && !upstream })
}

func TestABlindWaitThatLastsEndsInOneThatIsNot(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	r.looks(time.Hour)
	r.upstream = r.starts(r.client)
	for range 3 {
		r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('I')))
		r.becomes("both", func(client, upstream bool) bool { return client && upstream })
		r.looksFromNow(time.Millisecond)
		r.becomes("neither", func(client, upstream bool) bool { return !client && !upstream })
		r.looksFromNow(time.Hour)
	}
}

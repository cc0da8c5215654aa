package conversation

import (
	"bytes"

	"pgflurry/proxy/internal/wire"
)

// The client's goroutine waits for replies in two cases.

// AwaitRoom makes a client wait that is many batches ahead of upstream. PostgreSQL would do the same by not reading.
// The caller must have forwarded all that the client has sent. Then upstream can reply without more from the client.
func (c *Conversation) AwaitRoom() {
	if owed := c.owed.Load(); owed > MaxOwed || owed > MaxEarly && !c.started.Load() {
		c.await(func() bool { return c.owed.Load() > MaxOwed/2 || !c.started.Load() })
	}
}

// MustWait says whether a message must wait until it is known whether a Query before it copies in (AwaitCopy). The
// message may need messages of the proxy's own in front.
func (c *Conversation) MustWait(kind byte) bool {
	switch kind {
	case wire.FrontendQuery, wire.FrontendCopyData, wire.FrontendCopyDone, wire.FrontendCopyFail,
		wire.FrontendTerminate:
		return false
	}
	return c.mayCopy
}

// AwaitCopy waits until it is known of every Query whether it copies in. The caller must have forwarded all that comes
// before. PostgreSQL, too, reads the next batch only then.
func (c *Conversation) AwaitCopy() {
	c.mayCopy = false
	c.await(func() bool { return c.owed.Load() > 0 && !c.ledger.copiesIn() })
}

// mentionsCopy says whether a text may contain COPY. No other command copies in, and no function can.
func mentionsCopy(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte("copy")) }

// Waits says whether the client's goroutine waits for replies.
func (c *Conversation) Waits() bool { return c.waiting.Load() }

// await makes the client's goroutine wait for replies while it must, and while they can come. It calls must with the
// lock.
func (c *Conversation) await(must func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting.Store(true)
	for must() && !c.relaying && !c.ended {
		c.room.Wait()
	}
	c.waiting.Store(false)
}

// End wakes the client's goroutine when the session is over.
func (c *Conversation) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.room.Broadcast()
}

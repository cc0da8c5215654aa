package proxy

import (
	"bytes"

	"pgflurry/proxy/wire"
)

// The client's goroutine waits for replies in two cases.

// awaitRoom makes a client wait that is many batches ahead of upstream. PostgreSQL would do the same by not reading.
// The caller must have forwarded all that the client has sent. Then upstream can reply without more from the client.
func (c *conversation) awaitRoom() {
	if owed := c.owed.Load(); owed > maxOwed || owed > maxEarly && !c.started.Load() {
		c.await(func() bool { return c.owed.Load() > maxOwed/2 || !c.started.Load() })
	}
}

// mustWait says whether a message must wait until it is known whether a Query before it copies in (awaitCopy). The
// message may need messages of the proxy's own in front.
func (c *conversation) mustWait(kind byte) bool {
	switch kind {
	case wire.FrontendQuery, wire.FrontendCopyData, wire.FrontendCopyDone, wire.FrontendCopyFail,
		wire.FrontendTerminate:
		return false
	}
	return c.mayCopy
}

// awaitCopy waits until it is known of every Query whether it copies in. The caller must have forwarded all that comes
// before. PostgreSQL, too, reads the next batch only then.
func (c *conversation) awaitCopy() {
	c.mayCopy = false
	c.await(func() bool { return c.owed.Load() > 0 && !c.ledger.copiesIn() })
}

// mentionsCopy says whether a text may contain COPY. No other command copies in, and no function can.
func mentionsCopy(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte("copy")) }

// await makes the client's goroutine wait for replies while it must, and while they can come. It calls must with the
// lock.
func (c *conversation) await(must func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting.Store(true)
	for must() && !c.relaying && !c.ended {
		c.room.Wait()
	}
	c.waiting.Store(false)
}

// end wakes the client's goroutine when the session is over.
func (c *conversation) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.room.Broadcast()
}

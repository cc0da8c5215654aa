package conversation

import (
	"pgflurry/proxy/internal/wire"
)

// TakeReply notes a message of upstream, and says whether to relay it. An error ends the session.
func (c *Conversation) TakeReply(kind byte, body []byte) (relay bool, err error) {
	switch kind {
	case wire.BackendDataRow, wire.BackendCopyData, wire.BackendNoticeResponse, wire.BackendNotificationResponse,
		wire.BackendParameterStatus,
		wire.BackendRowDescription, wire.BackendBindComplete, wire.BackendAuthentication:
		return true, nil // these do not matter here, or may come at any time
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.ledger.head()
	switch {
	case e == nil && kind == wire.BackendErrorResponse: // it may be upstream's last message
		return true, nil
	case e == nil: // upstream owes nothing, and those that may come at any time are above
		return true, c.confused()
	case e.of == owesAnything:
		if kind == wire.BackendReadyForQuery && len(body) == 1 {
			c.status = body[0] // the client's goroutine does not read it while something is owed
			c.started.Store(true)
		}
		return true, nil
	}
	if e.ownCloses > 0 || e.ownParses > 0 {
		return e.takeOwn(kind)
	}
	switch kind {
	case wire.BackendReadyForQuery:
		if e.open || len(body) != 1 {
			return true, c.confused()
		}
		own := e.own
		c.over(e, body[0])
		return !own, nil
	case wire.BackendErrorResponse:
		e.failed = true
	case wire.BackendCommandComplete:
		if e.of == owesQuery { // an empty Query leaves the portal alone
			e.drops |= unnamedPortal
		}
		if forgets(body) {
			e.learns = c.statements.forgetNamed(e.learns)
		}
	case wire.BackendParameterDescription:
		e.described(body)
	case wire.BackendCopyIn, wire.BackendCopyBoth:
		if e.of == owesQuery {
			c.unnamed.there = 0 // the Query runs, so it has dropped both
		}
		if e.copies++; e.of != owesQuery || e.copies > e.copyEnds && c.ledger.more() {
			return true, c.confused()
		}
		c.room.Broadcast()
	}
	return true, nil
}

// takeOwn takes a reply to the proxy's own messages. After an error upstream skips the rest of the batch.
func (e *entry) takeOwn(kind byte) (relay bool, err error) {
	switch {
	case kind == wire.BackendErrorResponse:
		e.failed, e.ownCloses, e.ownParses = true, 0, 0
		return true, nil
	case kind == wire.BackendCloseComplete && e.ownCloses > 0:
		e.ownCloses--
	case kind == wire.BackendParseComplete && e.ownCloses == 0:
		e.ownParses--
		e.learns[0].state = live // whatever becomes of the client's messages
		e.learns = e.learns[1:]
	default:
		return false, ErrTorn
	}
	return false, nil
}

// over ends the oldest entry. Only its ReadyForQuery is left to relay.
func (c *Conversation) over(e *entry, status byte) {
	c.status = status
	c.started.Store(true)
	if e.of == owesCall || e.failed && (e.risky || c.risky) { // a function may run any SQL
		e.learns = c.statements.forgetNamed(e.learns)
	}
	for _, k := range e.learns {
		k.state, k.epoch = live, c.statements.epoch
		if e.failed {
			k.state = dead
		}
	}
	if !e.failed {
		c.unnamed.there &^= e.drops
	}
	c.unnamed.there |= e.makes
	if status == wire.StatusIdle {
		c.unnamed.there &^= unnamedPortal
	}
	c.ledger.pop()
	c.done++
}

// confused handles a reply that fits nothing the client sent, or a COPY FROM STDIN that other messages have joined. The
// session goes on as one that only relays. If upstream owes replies to the proxy's own messages, the session ends
// instead.
func (c *Conversation) confused() error {
	for i := c.ledger.first; i < len(c.ledger.entries); i++ {
		if e := &c.ledger.entries[i]; e.own || e.ownCloses > 0 || e.ownParses > 0 {
			return ErrTorn
		}
	}
	c.ledger = ledger{}
	c.relaying = false
	c.relayOnly()
	return nil
}

// Unrelayed says whether replies were taken since the last Relayed that end a batch.
func (c *Conversation) Unrelayed() bool { return c.done > 0 }

// Relayed says that all replies taken since its last call have been relayed.
func (c *Conversation) Relayed() {
	done := c.done
	c.done = 0
	if owed := c.owed.Add(-done); c.waiting.Load() && owed <= MaxOwed/2 {
		c.mu.Lock()
		c.room.Broadcast()
		c.mu.Unlock()
	}
}

// forgets tells from the tag of a command whether it may have deallocated statements (pgbouncer #972; DO and CALL may
// run any SQL).
func forgets(tag []byte) bool {
	for _, t := range [...]string{"DEALLOCATE", "DISCARD ALL", "DO", "CALL"} {
		if len(tag) > len(t) && string(tag[:len(t)]) == t && (tag[len(t)] == 0 || tag[len(t)] == ' ') {
			return true
		}
	}
	return false
}

package proxy

import (
	"encoding/binary"

	"pgflurry/proxy/wire"
)

// owes is what upstream owes for a batch. It ends with a ReadyForQuery.
type owes uint8

const (
	owesStartup  owes = iota // everything up to the first ReadyForQuery
	owesQuery                // the replies to a Query
	owesCall                 // the replies to a FunctionCall
	owesBatch                // the replies to extended-query messages up to their Sync
	owesAnything             // everything from here on: replies cannot be matched to batches any more
)

// entry is one line of the ledger: a batch.
type entry struct {
	of     owes
	open   bool // its Sync has not been sent
	failed bool // an error came
	risky  bool // a Query that may deallocate statements
	own    bool // the proxy's own, so the client does not get its ReadyForQuery
	// ownCloses and ownParses count the replies that upstream still owes to the proxy's own messages in front of the
	// batch (unnamed.go). They come in this order.
	ownCloses, ownParses uint8
	// makes are the unnamed objects that the batch may leave in upstream. drops are those that it drops, if it succeeds
	// and does not make them.
	makes, drops unnamedObjects
	// For a Query, copies is how often upstream has begun to copy in. copyEnds is how many ends of copies the client
	// has sent since the Query.
	copies, copyEnds int32
	learns           []*known // they become live if the batch succeeds
	// describesSent counts the Describes of statements that were sent, descriptions the ParameterDescriptions that
	// came. The k-th description belongs to the k-th Describe.
	describesSent, descriptions int32
	wants                       []want
}

// want is a statement that waits for the type of its parameter. The k-th ParameterDescription has it.
type want struct {
	k  int32
	of *known
}

// describes notes a Describe of a statement; k is nil if the proxy does not know that statement.
func (e *entry) describes(k *known) {
	e.describesSent++
	if k != nil && k.form.CountParam && !k.wanted {
		k.wanted = true
		e.wants = append(e.wants, want{e.describesSent, k})
	}
}

// described notes a ParameterDescription.
func (e *entry) described(body []byte) {
	e.descriptions++
	if len(e.wants) == 0 || e.wants[0].k != e.descriptions {
		return
	}
	if k := e.wants[0].of; len(body) == 2+4*k.form.Params() {
		k.countType = binary.BigEndian.Uint32(body[len(body)-4:])
	}
	e.wants = e.wants[1:]
}

// unnamedObjects are the unnamed statement, the unnamed portal, or both.
type unnamedObjects uint8

const (
	unnamedStatement unnamedObjects = 1 << iota
	unnamedPortal
)

// ledger is the queue of what upstream owes.
type ledger struct {
	entries []entry // the queue is entries[first:]
	first   int
}

// maxIdleEntries is for how many entries a ledger keeps room after a burst.
const maxIdleEntries = 16

func (l *ledger) push(e entry) {
	if l.first > len(l.entries)/2 && len(l.entries) == cap(l.entries) {
		n := copy(l.entries, l.entries[l.first:])
		clear(l.entries[n:])
		l.entries, l.first = l.entries[:n], 0
	}
	l.entries = append(l.entries, e)
}

// head is the oldest entry; nil when nothing is owed.
func (l *ledger) head() *entry {
	if l.first == len(l.entries) {
		return nil
	}
	return &l.entries[l.first]
}

// last is the newest entry; nil when nothing is owed.
func (l *ledger) last() *entry {
	if l.first == len(l.entries) {
		return nil
	}
	return &l.entries[len(l.entries)-1]
}

func (l *ledger) pop() {
	l.entries[l.first] = entry{}
	l.first++
	if l.first == len(l.entries) {
		l.entries, l.first = l.entries[:0], 0
		if cap(l.entries) > maxIdleEntries {
			l.entries = nil
		}
	}
}

// more says whether something was sent after the head.
func (l *ledger) more() bool { return len(l.entries) > l.first+1 }

// copyEnds notes a CopyDone or CopyFail. Upstream ignores it unless it follows a Query that copies in.
func (l *ledger) copyEnds() {
	if e := l.last(); e != nil && e.of == owesQuery {
		e.copyEnds++
	}
}

// copiesIn says whether the last entry is a Query that still waits for the end of the client's COPY data.
func (l *ledger) copiesIn() bool {
	e := l.last()
	return e != nil && e.copies > e.copyEnds && !e.failed
}

// takeReply notes a message of upstream, and says whether to relay it. An error ends the session.
func (c *conversation) takeReply(kind byte, body []byte) (relay bool, err error) {
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
	case e == nil:
		return true, c.unasked(kind)
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
			c.forgetNamed(e)
		}
	case wire.BackendParameterDescription:
		e.described(body)
	case wire.BackendCopyIn, wire.BackendCopyBoth:
		if e.of == owesQuery {
			c.there = 0 // the Query runs, so it has dropped both
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
		return false, errTorn
	}
	return false, nil
}

// over ends the oldest entry. Only its ReadyForQuery is left to relay.
func (c *conversation) over(e *entry, status byte) {
	c.status = status
	c.started.Store(true)
	if e.of == owesCall || e.failed && (e.risky || c.risky) { // a function may run any SQL
		c.forgetNamed(e)
	}
	for _, k := range e.learns {
		k.state, k.epoch = live, c.epoch
		if e.failed {
			k.state = dead
		}
	}
	if !e.failed {
		c.there &^= e.drops
	}
	c.there |= e.makes
	if status == wire.StatusIdle {
		c.there &^= unnamedPortal
	}
	c.ledger.pop()
	c.done++
}

// unasked handles a message that comes while upstream owes nothing. takeReply has sorted out those that may come at any
// time. An error may be upstream's last message.
func (c *conversation) unasked(kind byte) error {
	if kind == wire.BackendErrorResponse {
		return nil
	}
	return c.confused()
}

// confused handles a reply that fits nothing the client sent, or a COPY FROM STDIN that other messages have joined. The
// session goes on as one that only relays. If upstream owes replies to the proxy's own messages, the session ends
// instead.
func (c *conversation) confused() error {
	for i := c.ledger.first; i < len(c.ledger.entries); i++ {
		if e := &c.ledger.entries[i]; e.own || e.ownCloses > 0 || e.ownParses > 0 {
			return errTorn
		}
	}
	c.ledger = ledger{}
	c.relaying = false
	c.relayOnly()
	return nil
}

// relayed says that all replies taken since its last call have been relayed.
func (c *conversation) relayed() {
	done := c.done
	c.done = 0
	if owed := c.owed.Add(-done); c.waiting.Load() && owed <= maxOwed/2 {
		c.mu.Lock()
		c.room.Broadcast()
		c.mu.Unlock()
	}
}

// forgetNamed forgets all live named statements, and those that the entry would make.
func (c *conversation) forgetNamed(e *entry) {
	c.epoch++
	unnamed := e.learns[:0]
	for _, k := range e.learns {
		if k == c.knownUnnamed {
			unnamed = append(unnamed, k)
		} else {
			k.state = dead
		}
	}
	e.learns = unnamed
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

package proxy

import (
	"errors"
	"sync"
	"sync/atomic"

	"pgflurry/proxy/statement"
	"pgflurry/proxy/tally"
	"pgflurry/proxy/wire"
)

// decision is what becomes of a message of the client.
type decision uint8

const (
	forward decision = iota // upstream's business, and so is all that is held
	hold                    // may yet be answered, with the rest of its batch
	answer                  // can be answered with all that is held, if the IDs can be had
)

// conversation is what the client and upstream have said, as far as it matters for the question who answers. It does no
// I/O: the client's messages and upstream's replies go in, decisions come out.
//
// hear, repeats, forwards, answeredQuery and answeredBatch belong to the goroutine that reads the client; takeReply and
// relayed to the one that reads upstream.
type conversation struct {
	// owed counts the entries whose ReadyForQuery is yet to be relayed. While it is 0 nobody but the client's goroutine
	// changes anything here.
	owed atomic.Int32
	// started: the first ReadyForQuery came, so the client is authenticated.
	started atomic.Bool

	// The client's goroutine.
	allows       func(*statement.Form) bool // condition 2 of doc.go
	batches      *batches
	batch        *batch          // what is held; nil: nothing
	query        *statement.Form // of the Query that can be answered
	knownUnnamed *known          // the unnamed statement, if its text is known
	named        map[string]*known
	kept         known // what knownUnnamed is after a Parse that was answered
	unnamed      unnamed
	risky        bool // a Parse was sent whose text deallocates statements, or may do so
	lastText     []byte
	lastForm     *statement.Form
	early        int // messages before authentication
	// barred: the present batch is forwarded because an answered form in it may not be answered here. Then its Binds of
	// such forms are counted as unpermitted, as are Queries.
	barred      bool
	unpermitted int

	mu       sync.Mutex
	ledger   ledger
	status   byte           // of the last ReadyForQuery; 0 before the first
	epoch    uint64         // raised when named statements may be gone
	relaying bool           // replies cannot be told apart any more: everything is forwarded
	open     bool           // the last entry is a batch whose Sync has not been sent
	there    unnamedObjects // that upstream may have, by all replies that came
	ended    bool
	waiting  atomic.Bool
	room     sync.Cond // owed fell, relaying or ended was set, while waiting

	done int32 // entries that are over, but not yet relayed; of upstream's goroutine
}

const (
	// maxOwed is how many batches may be owed before a client has to wait for upstream. It is far more than any
	// upstream needs to be kept busy, and half a megabyte of entries.
	maxOwed = 4 << 10
	// maxEarly is how many messages other than passwords a client may send before it is authenticated.
	maxEarly = 1000
	// maxNamed is how many named statements of a session are remembered, and how many a batch can make; the ones beyond
	// it are forwarded.
	maxNamed = 1000
	// maxBatchIDs is how many IDs one batch may ask for: as many as a layout of 4096 a tick gives in half of patience.
	maxBatchIDs = 100_000
)

var (
	errEarly   = errors.New("too many messages before authentication")
	errTorn    = errors.New("upstream's reply matches nothing that was sent")
	errUnnamed = errors.New("upstream's unnamed statement or portal cannot be put right in a session that only relays")
)

// newConversation begins before the startup packet is answered. A replication session is only relayed.
func newConversation(replication bool, batches *batches, allows func(*statement.Form) bool) *conversation {
	c := &conversation{allows: allows, batches: batches}
	c.room.L = &c.mu
	c.push(entry{of: owesStartup})
	if replication {
		c.relayOnly()
	}
	return c
}

// quiescent: conditions 1, 3 and 4 of doc.go. A session that only relays is owed something for ever.
func (c *conversation) quiescent() bool {
	return c.owed.Load() == 0 && (c.status == wire.StatusIdle || c.status == wire.StatusTransaction)
}

// atRest says that neither side owes anything: no transaction, no batch of which a part was sent.
func (c *conversation) atRest() bool { return c.owed.Load() == 0 && c.status == wire.StatusIdle }

// holds says that messages are held.
func (c *conversation) holds() bool { return c.batch != nil }

// release gives up holding.
func (c *conversation) release() {
	if c.batch != nil {
		c.batches.put(c.batch)
		c.batch = nil
	}
}

// hear decides about one whole message of the client. size is that of its frame in bytes. Before the next one what is
// held has to be released if it says forward, and the batch answered or released if it says answer.
func (c *conversation) hear(kind byte, body []byte, size int) decision {
	if !c.holds() && !c.quiescent() {
		return forward
	}
	switch kind {
	case wire.FrontendQuery:
		return c.hearQuery(body)
	case wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose, wire.FrontendSync:
		return c.hearPart(kind, body, size)
	}
	return forward
}

// hearQuery: a simple Query is a batch of its own.
func (c *conversation) hearQuery(body []byte) decision {
	if c.holds() || len(body) == 0 || body[len(body)-1] != 0 {
		return forward
	}
	f := c.match(body[:len(body)-1])
	if f == nil || f.Params() > 0 {
		return forward
	}
	if !c.allows(f) {
		c.unpermitted++
		return forward
	}
	c.query = f
	return answer
}

// match finds the form of a text, and remembers the last: a client that wants IDs sends the same one again and again.
func (c *conversation) match(text []byte) *statement.Form {
	if c.lastForm != nil && string(c.lastText) == string(text) {
		return c.lastForm
	}
	f, ok := statement.Match(text)
	if !ok {
		return nil
	}
	c.lastText, c.lastForm = append(c.lastText[:0], text...), f
	return f
}

// answeredQuery: the Query for which hear said answer was answered. In PostgreSQL it would have dropped the unnamed
// statement and portal.
func (c *conversation) answeredQuery() {
	c.knownUnnamed = nil
	c.unnamed.statementDiffers, c.unnamed.portalDiffers, c.unnamed.parse = true, true, c.unnamed.parse[:0]
}

// answeredBatch: the batch for which hear said answer was answered. held are its messages but for the Sync.
func (c *conversation) answeredBatch(held []byte) {
	if b := c.batch; b.parse.end > 0 {
		c.kept = known{form: b.unnamed, state: live, epoch: c.epoch}
		c.knownUnnamed = &c.kept
		c.unnamed.statementDiffers = true
		c.unnamed.parse = append(c.unnamed.parse[:0], held[b.parse.begin:b.parse.end]...)
	}
	c.unnamed.portalDiffers = true
	c.release()
}

// forwards notes a message that is about to be forwarded; before is what has to be sent before it. body may be cut off,
// which whole denies. What was held must be given up first, and forwarded message by message.
func (c *conversation) forwards(kind byte, body []byte, whole bool) (before []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started.Load() && kind != wire.FrontendPassword && kind != wire.FrontendTerminate {
		if c.early++; c.early > maxEarly {
			return nil, errEarly
		}
	}
	switch {
	case kind == wire.FrontendTerminate, kind == wire.FrontendCopyData,
		kind == wire.FrontendPassword && !c.started.Load():
		return nil, nil
	case c.relaying && c.inTheWay():
		return nil, errUnnamed
	case c.relaying:
		return nil, nil
	}
	switch kind {
	case wire.FrontendQuery, wire.FrontendFunctionCall:
		c.forwardsWhole(kind, body, whole)
		return nil, nil
	case wire.FrontendSync, wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose:
		return c.forwardsPart(kind, body, whole), nil
	case wire.FrontendFlush:
		if c.open || len(body) == 0 {
			return nil, nil // owes nothing, and changes nothing
		}
		return c.forwardsPart(kind, body, whole), nil // an error like any other: upstream skips to the Sync
	case wire.FrontendCopyDone, wire.FrontendCopyFail:
		c.ledger.copyEnds()
		return nil, nil
	}
	// PostgreSQL ends the session over it (invalid frontend message type).
	c.relayOnly()
	return nil, nil
}

// forwardsWhole notes a message that is a batch of its own.
func (c *conversation) forwardsWhole(kind byte, body []byte, whole bool) {
	if c.open {
		c.relayOnly() // if the batch has failed, upstream skips the message and owes nothing for it
		return
	}
	e := entry{of: owesCall}
	if kind == wire.FrontendQuery {
		e = entry{of: owesQuery, risky: !whole || statement.MayDeallocate(trimZero(body)), drops: unnamedStatement}
	}
	if kind == wire.FrontendQuery || len(c.unnamed.parse) > 0 {
		c.knownUnnamed, c.unnamed.parse = nil, c.unnamed.parse[:0]
	}
	c.push(e)
}

// forwardsPart notes a message of a batch that ends with its Sync.
func (c *conversation) forwardsPart(kind byte, body []byte, whole bool) (before []byte) {
	if !c.open {
		e := entry{of: owesBatch, open: true}
		if kind != wire.FrontendSync || len(body) > 0 { // which uses nothing, but with contents fails a transaction
			before = c.putRight(&e, kind, body, whole)
		}
		c.push(e)
		if c.relaying {
			return before
		}
		c.open = true
	}
	e := c.ledger.last()
	switch kind {
	case wire.FrontendSync:
		e.open, c.open, c.barred = false, false, false
	case wire.FrontendParse:
		c.forwardsParse(e, body, whole)
	case wire.FrontendBind:
		c.forwardsBind(e, body)
	case wire.FrontendDescribe:
		if what, name := cutTarget(body); what == wire.OfStatement {
			e.describes(c.knownAs(name))
		}
	case wire.FrontendClose:
		switch what, name := cutTarget(body); {
		case what == wire.OfStatement:
			c.forget(name)
			if len(name) == 0 {
				e.drops |= unnamedStatement
			}
		case what == wire.OfPortal && len(name) == 0:
			e.drops |= unnamedPortal
		}
	}
	return before
}

// forwardsBind notes whose portal it makes, and whether it is of a form that might have been answered.
func (c *conversation) forwardsBind(e *entry, body []byte) {
	portal, rest := cutName(body)
	if len(portal) == 0 {
		e.makes |= unnamedPortal
	}
	if !c.barred {
		return
	}
	name, _ := cutName(rest)
	if k := c.knownAs(name); k != nil && !c.allows(k.form) {
		c.unpermitted++
	}
}

// takeUnpermitted is how many statements were forwarded since it was called last because of Permission alone.
func (c *conversation) takeUnpermitted() int {
	n := c.unpermitted
	c.unpermitted = 0
	return n
}

// state is what the session does, for who looks from outside. Of one that only relays the last ReadyForQuery decides.
func (c *conversation) state() tally.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.started.Load():
		return tally.Login
	case c.status == wire.StatusFailed:
		return tally.Failed
	case c.status == wire.StatusTransaction, !c.relaying && c.owed.Load() > 0:
		return tally.InTransaction
	}
	return tally.Idle
}

// forwardsParse forgets the statement that its name had, and learns the new one if it is worth it and the batch does
// not fail.
func (c *conversation) forwardsParse(e *entry, body []byte, whole bool) {
	name, text, f := c.readParse(body, whole)
	c.forget(name)
	c.risky = c.risky || statement.Deallocates(text)
	if len(name) == 0 {
		e.makes |= unnamedStatement
	}
	if f == nil || len(e.learns) == maxNamed {
		return
	}
	k := &known{form: f}
	if c.remember(name, k) {
		e.learns = append(e.learns, k)
	}
}

func trimZero(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] == 0 {
		return text[:n-1]
	}
	return text
}

// push enters what upstream will owe. While a Query copies in, upstream reads what comes as part of the copy, and
// nobody can know what it makes of it.
func (c *conversation) push(e entry) {
	if c.relaying {
		return
	}
	if c.ledger.copiesIn() {
		c.relayOnly()
		return
	}
	c.ledger.push(e)
	c.owed.Add(1)
}

// relayOnly gives up telling the replies to what comes from here on apart: the session only relays. It is locked, or
// nobody else knows c yet.
func (c *conversation) relayOnly() {
	if c.relaying {
		return
	}
	c.relaying, c.open = true, false
	c.ledger.push(entry{of: owesAnything})
	c.owed.Add(1)
	c.room.Broadcast()
}

// awaitRoom makes a client wait that is thousands of batches ahead of upstream, as PostgreSQL would by not reading. All
// that it has sent must have been passed on. Upstream needs nothing more from the client for its replies.
func (c *conversation) awaitRoom() {
	if c.owed.Load() <= maxOwed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting.Store(true)
	for c.owed.Load() > maxOwed/2 && !c.relaying && !c.ended {
		c.room.Wait()
	}
	c.waiting.Store(false)
}

// end releases who waits when the session is over.
func (c *conversation) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.room.Broadcast()
}

package conversation

import (
	"errors"
	"sync"
	"sync/atomic"

	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// Decision is what the proxy does with a message of the client.
type Decision uint8

const (
	Forward Decision = iota // to upstream, together with all held messages
	Hold                    // it may yet be answered, with the rest of its batch
	Answer                  // it completes a batch that can be answered if there are IDs
)

// Conversation is what client and upstream have said, as far as it decides who answers.
//
// Only the goroutine that reads upstream may call TakeReply, Relayed and Unrelayed. Any may call Started, Owed, State
// and End. Only the goroutine that reads the client may call the other methods.
type Conversation struct {
	// owed counts the entries whose ReadyForQuery has not been relayed. While it is 0, only the client's goroutine
	// changes anything in the conversation.
	owed atomic.Int32
	// started is set by the first ReadyForQuery: the client is authenticated.
	started atomic.Bool

	// These fields belong to the client's goroutine.
	batches    *Batches
	batch      *Batch          // what the proxy holds; nil: nothing
	query      *statement.Form // the form of the Query that can be answered
	statements statements
	risky      bool // the client has sent a Parse whose text deallocates statements, or may do so
	mayCopy    bool // a Query that may copy in was sent while the unnamed objects were not right

	mu       sync.Mutex
	ledger   ledger
	unnamed  unnamed
	status   byte // of the last ReadyForQuery; 0 before the first
	relaying bool // replies cannot be matched to batches any more: the session only relays
	open     bool // the last entry is a batch whose Sync has not been sent
	ended    bool
	waiting  atomic.Bool
	room     sync.Cond // signals to a waiting client that owed fell, a copy began, or relaying or ended was set

	done int32 // entries that have ended, but whose ReadyForQuery is not relayed; upstream's goroutine owns it
}

const (
	// MaxOwed is how many batches upstream may owe before the client has to wait. That is far more than upstream needs
	// to stay busy, and half a megabyte of entries.
	MaxOwed = 4 << 10
	// MaxEarly is the same for a client that is not authenticated yet. Upstream reads none of its batches before that.
	MaxEarly = 1000
	// maxNamed is how many named statements the proxy remembers of a session, and how many one batch can add.
	// Statements beyond it are forwarded.
	maxNamed = 1000
	// maxColumns is how many columns these have together. So a session remembers at most about a megabyte.
	maxColumns = 4 * maxNamed
	// maxBatchIDs is how many IDs one batch may ask for. A layout with 4096 IDs a tick gives as many in half of
	// patience.
	maxBatchIDs = 100_000
)

var (
	ErrTorn    = errors.New("upstream's reply matches nothing that was sent")
	errUnnamed = errors.New("upstream's unnamed statement or portal cannot be put right in a session that only relays")
)

// Session is what the conversation must know of a session before it begins.
type Session struct {
	// Replication means that the session only relays.
	Replication bool
	// Unlisted means that nothing is ever answered in the session's database. The conversation remembers only which
	// names stand for answered forms, to count them.
	Unlisted bool
	// Allows says whether the session may get this form from memory now. The client's goroutine calls it.
	Allows func(*statement.Form) bool
}

// New makes the conversation before upstream has replied to the startup packet.
func New(of Session, batches *Batches) *Conversation {
	c := &Conversation{batches: batches, statements: statements{allows: of.Allows, unlisted: of.Unlisted}}
	c.room.L = &c.mu
	c.push(entry{of: owesStartup})
	if of.Replication {
		c.relayOnly()
	}
	return c
}

// Started says whether the first ReadyForQuery has come: the client is authenticated.
func (c *Conversation) Started() bool { return c.started.Load() }

// Owed is how many batches upstream owes, as far as they can be counted.
func (c *Conversation) Owed() int { return int(c.owed.Load()) }

// Status is that of the last ReadyForQuery. It may be called after Answer, when upstream owes nothing.
func (c *Conversation) Status() byte { return c.status }

// Query is the form of the Query that Hear says can be answered.
func (c *Conversation) Query() *statement.Form { return c.query }

// Batch is what is held; nil if nothing is.
func (c *Conversation) Batch() *Batch { return c.batch }

// quiescent checks conditions 1, 3 and 4 of doc.go. For a session that only relays it is never true: owed stays above
// 0.
func (c *Conversation) quiescent() bool {
	return c.owed.Load() == 0 && (c.status == wire.StatusIdle || c.status == wire.StatusTransaction)
}

// AtRest says that there is no transaction, and that neither side owes anything.
func (c *Conversation) AtRest() bool { return c.owed.Load() == 0 && c.status == wire.StatusIdle }

// Holds says whether the proxy holds messages.
func (c *Conversation) Holds() bool { return c.batch != nil }

// Release gives back the batch that is held.
func (c *Conversation) Release() {
	if c.batch != nil {
		c.batches.put(c.batch)
		c.batch = nil
	}
}

// Hear decides about one whole message of the client. size is the size of its frame in bytes. After forward, the caller
// must release what is held before the next message. After answer, it must answer the batch or release it.
func (c *Conversation) Hear(kind byte, body []byte, size int) Decision {
	if !c.Holds() && !c.quiescent() {
		return Forward
	}
	switch kind {
	case wire.FrontendQuery:
		return c.hearQuery(body)
	case wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose, wire.FrontendSync:
		return c.hearPart(kind, body, size)
	}
	return Forward
}

// hearQuery decides about a simple Query, which is a batch of its own.
func (c *Conversation) hearQuery(body []byte) Decision {
	if c.Holds() || len(body) == 0 || body[len(body)-1] != 0 {
		return Forward
	}
	f := c.statements.match(body[:len(body)-1])
	if f == nil || f.Params() > 0 {
		return Forward
	}
	if !c.statements.allows(f) {
		c.statements.unpermitted++
		return Forward
	}
	c.query = f
	return Answer
}

// hearPart decides about one message of a batch of extended-query messages.
func (c *Conversation) hearPart(kind byte, body []byte, size int) Decision {
	if !c.Holds() {
		c.batch = c.batches.get()
	}
	d := c.batch.hear(kind, body, size, &c.statements)
	switch {
	case d == Hold:
		c.batch.size += size
	case c.batch.size == 0:
		c.Release()
	}
	return d
}

// Repeats finds requests in unread that repeat the last executed one byte for byte, as a pipeline does. It holds them,
// too, and returns their size in bytes. held is what the proxy holds.
func (c *Conversation) Repeats(held, unread []byte) (size int) { return c.batch.repeats(held, unread) }

// AnsweredQuery notes that the proxy answered the Query. PostgreSQL would have dropped the unnamed statement and
// portal.
func (c *Conversation) AnsweredQuery() {
	c.statements.unnamed = nil
	c.unnamed.statementDiffers, c.unnamed.portalDiffers, c.unnamed.parse = true, true, c.unnamed.parse[:0]
}

// AnsweredBatch notes that the proxy answered the batch. held are its messages without the Sync.
func (c *Conversation) AnsweredBatch(held []byte) {
	if b := c.batch; b.parse.end > 0 {
		c.statements.keep(b.unnamed)
		c.unnamed.statementDiffers = true
		c.unnamed.parse = append(c.unnamed.parse[:0], held[b.parse.begin:b.parse.end]...)
	}
	c.unnamed.portalDiffers = true
	c.Release()
}

// Forwards notes a message that is about to be forwarded. The caller sends before to upstream first. If whole is false,
// body is only the beginning of the message. Held messages must be released first, and forwarded one by one.
func (c *Conversation) Forwards(kind byte, body []byte, whole bool) (before []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case kind == wire.FrontendTerminate, kind == wire.FrontendCopyData,
		kind == wire.FrontendPassword && !c.started.Load():
		return nil, nil
	case c.relaying && c.unnamed.inTheWay():
		return nil, errUnnamed
	case c.relaying:
		return nil, nil
	}
	switch kind {
	case wire.FrontendQuery, wire.FrontendFunctionCall:
		return c.forwardsWhole(kind, body, whole), nil
	case wire.FrontendSync, wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose:
		return c.forwardsPart(kind, body, whole), nil
	case wire.FrontendFlush:
		if c.open || len(body) == 0 {
			return nil, nil // upstream owes nothing for it, and it changes nothing
		}
		return c.forwardsPart(kind, body, whole), nil // a Flush with contents is an error: upstream skips to the Sync
	case wire.FrontendCopyDone, wire.FrontendCopyFail:
		c.ledger.copyEnds()
		return nil, nil
	}
	// PostgreSQL ends the session for it (invalid frontend message type).
	c.relayOnly()
	return nil, nil
}

// forwardsWhole notes a message that is a batch of its own.
func (c *Conversation) forwardsWhole(kind byte, body []byte, whole bool) (before []byte) {
	if c.open {
		c.relayOnly() // if the batch has failed, upstream skips the message and owes nothing for it
		return nil
	}
	if kind == wire.FrontendQuery {
		c.mayCopy = c.mayCopy || c.unnamed.inTheWay() && (!whole || mentionsCopy(body))
		c.statements.unnamed, c.unnamed.parse = nil, c.unnamed.parse[:0]
		risky := !whole || statement.MayDeallocate(trimZero(body))
		c.push(entry{of: owesQuery, risky: risky, drops: unnamedStatement})
		return nil
	}
	own := entry{of: owesBatch, own: true}
	if before = c.unnamed.putRight(&own, &c.statements, kind, body, whole); len(before) > 0 {
		before = append(before, wire.Sync...)
		c.push(own)
	}
	c.push(entry{of: owesCall})
	return before
}

// forwardsPart notes a message of a batch that ends with its Sync.
func (c *Conversation) forwardsPart(kind byte, body []byte, whole bool) (before []byte) {
	if !c.open {
		e := entry{of: owesBatch, open: true}
		if kind != wire.FrontendSync || len(body) > 0 { // a Sync uses nothing; one with contents fails a transaction
			before = c.unnamed.putRight(&e, &c.statements, kind, body, whole)
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
		e.open, c.open, c.statements.barred = false, false, false
	case wire.FrontendParse:
		c.forwardsParse(e, body, whole)
	case wire.FrontendBind:
		if portal, _ := wire.CutName(body); len(portal) == 0 {
			e.makes |= unnamedPortal
		}
		c.statements.countBarred(body)
	case wire.FrontendDescribe:
		if what, name := wire.CutTarget(body); what == wire.OfStatement {
			e.describes(c.statements.knownAs(name))
		}
	case wire.FrontendClose:
		switch what, name := wire.CutTarget(body); {
		case what == wire.OfStatement:
			c.statements.forget(name)
			if len(name) == 0 {
				e.drops |= unnamedStatement
			}
		case what == wire.OfPortal && len(name) == 0:
			e.drops |= unnamedPortal
		}
	}
	return before
}

// TakeUnpermitted returns how many statements were forwarded because of Permission alone since its last call.
func (c *Conversation) TakeUnpermitted() int {
	n := c.statements.unpermitted
	c.statements.unpermitted = 0
	return n
}

// State is what the session does, for operators. For a session that only relays, the last ReadyForQuery decides.
func (c *Conversation) State() frontend.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.started.Load():
		return frontend.Login
	case c.status == wire.StatusFailed:
		return frontend.Failed
	case c.status == wire.StatusTransaction, !c.relaying && c.owed.Load() > 0:
		return frontend.InTransaction
	}
	return frontend.Idle
}

// forwardsParse forgets the statement that had this name. It remembers the new one if that is an answered form; the
// statement becomes live when the batch succeeds.
func (c *Conversation) forwardsParse(e *entry, body []byte, whole bool) {
	name, text, f := c.statements.readParse(body, whole)
	c.statements.forget(name)
	c.risky = c.risky || statement.Deallocates(text, whole)
	if len(name) == 0 {
		e.makes |= unnamedStatement
	}
	if f == nil || len(e.learns) == maxNamed {
		return
	}
	if c.statements.unlisted {
		f = neverAnswered
	}
	k := &known{form: f}
	if c.statements.remember(name, k) {
		e.learns = append(e.learns, k)
	}
}

// neverAnswered takes the place of a form that is not worth its memory.
var neverAnswered = &statement.Form{Columns: make([]statement.Column, 1), Rows: 1}

func trimZero(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] == 0 {
		return text[:n-1]
	}
	return text
}

// push enters what upstream will owe. While a Query copies in, upstream reads further messages as part of the copy. The
// proxy cannot know how upstream understands them.
func (c *Conversation) push(e entry) {
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

// relayOnly stops matching replies to batches: from here on the session only relays. The caller holds the lock, or has
// not shared c yet.
func (c *Conversation) relayOnly() {
	if c.relaying {
		return
	}
	c.relaying, c.open = true, false
	c.ledger.push(entry{of: owesAnything})
	c.owed.Add(1)
	c.room.Broadcast()
}

package proxy

import (
	"errors"
	"sync"
	"sync/atomic"

	"pgflurry/proxy/statement"
	"pgflurry/proxy/tally"
	"pgflurry/proxy/wire"
)

// decision is what the proxy does with a message of the client.
type decision uint8

const (
	forward decision = iota // to upstream, together with all held messages
	hold                    // it may yet be answered, with the rest of its batch
	answer                  // it completes a batch that can be answered if there are IDs
)

// conversation is what client and upstream have said, as far as it decides who answers. It does no I/O: the client's
// messages and upstream's replies go in, decisions come out.
//
// Only the goroutine that reads the client may call hear, repeats, forwards, answeredQuery and answeredBatch. Only the
// one that reads upstream may call takeReply and relayed.
type conversation struct {
	// owed counts the entries whose ReadyForQuery has not been relayed. While it is 0, only the client's goroutine
	// changes anything in the conversation.
	owed atomic.Int32
	// started is set by the first ReadyForQuery: the client is authenticated.
	started atomic.Bool

	// These fields belong to the client's goroutine.
	allows       func(*statement.Form) bool // condition 2 of doc.go
	batches      *batches
	batch        *batch          // what the proxy holds; nil: nothing
	query        *statement.Form // the form of the Query that can be answered
	knownUnnamed *known          // the unnamed statement, if its text is known
	named        map[string]*known
	columns      int   // of all in named
	kept         known // the memory of knownUnnamed after an answered Parse
	unnamed      unnamed
	risky        bool // the client has sent a Parse whose text deallocates statements, or may do so
	mayCopy      bool // a Query that may copy in was sent while the unnamed objects were not right
	lastText     []byte
	lastForm     *statement.Form
	// barred says that the proxy forwards the present batch because of an answered form that it may not answer here. It
	// counts the batch's Binds of such forms as unpermitted, as it does with Queries.
	barred      bool
	unpermitted int
	// unlisted means that nothing is ever answered in the session's database. The session remembers only which names
	// stand for answered forms, to count them.
	unlisted bool

	mu       sync.Mutex
	ledger   ledger
	status   byte           // of the last ReadyForQuery; 0 before the first
	epoch    uint64         // rises when named statements may be gone
	relaying bool           // replies cannot be matched to batches any more: the session only relays
	open     bool           // the last entry is a batch whose Sync has not been sent
	there    unnamedObjects // the unnamed objects that upstream may have, going by its replies so far
	ended    bool
	waiting  atomic.Bool
	room     sync.Cond // signals to a waiting client that owed fell, a copy began, or relaying or ended was set

	done int32 // entries that have ended, but whose ReadyForQuery is not relayed; upstream's goroutine owns it
}

const (
	// maxOwed is how many batches upstream may owe before the client has to wait. That is far more than upstream needs
	// to stay busy, and half a megabyte of entries.
	maxOwed = 4 << 10
	// maxEarly is the same for a client that is not authenticated yet. Upstream reads none of its batches before that.
	maxEarly = 1000
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
	errTorn    = errors.New("upstream's reply matches nothing that was sent")
	errUnnamed = errors.New("upstream's unnamed statement or portal cannot be put right in a session that only relays")
)

// newConversation makes the conversation before upstream has replied to the startup packet. A replication session only
// relays.
func newConversation(replication bool, batches *batches, allows func(*statement.Form) bool) *conversation {
	c := &conversation{allows: allows, batches: batches}
	c.room.L = &c.mu
	c.push(entry{of: owesStartup})
	if replication {
		c.relayOnly()
	}
	return c
}

// quiescent checks conditions 1, 3 and 4 of doc.go. For a session that only relays it is never true: owed stays above
// 0.
func (c *conversation) quiescent() bool {
	return c.owed.Load() == 0 && (c.status == wire.StatusIdle || c.status == wire.StatusTransaction)
}

// atRest says that there is no transaction, and that neither side owes anything.
func (c *conversation) atRest() bool { return c.owed.Load() == 0 && c.status == wire.StatusIdle }

// holds says whether the proxy holds messages.
func (c *conversation) holds() bool { return c.batch != nil }

// release gives back the batch that is held.
func (c *conversation) release() {
	if c.batch != nil {
		c.batches.put(c.batch)
		c.batch = nil
	}
}

// hear decides about one whole message of the client. size is the size of its frame in bytes. After forward, the caller
// must release what is held before the next message. After answer, it must answer the batch or release it.
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

// hearQuery decides about a simple Query, which is a batch of its own.
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

// match finds the form of a text. It remembers the last one, because clients send the same text again and again.
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

// answeredQuery notes that the proxy answered the Query. PostgreSQL would have dropped the unnamed statement and
// portal.
func (c *conversation) answeredQuery() {
	c.knownUnnamed = nil
	c.unnamed.statementDiffers, c.unnamed.portalDiffers, c.unnamed.parse = true, true, c.unnamed.parse[:0]
}

// answeredBatch notes that the proxy answered the batch. held are its messages without the Sync.
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

// forwards notes a message that is about to be forwarded. The caller sends before to upstream first. If whole is false,
// body is only the front of the message. Held messages must be released first, and forwarded one by one.
func (c *conversation) forwards(kind byte, body []byte, whole bool) (before []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
func (c *conversation) forwardsWhole(kind byte, body []byte, whole bool) (before []byte) {
	if c.open {
		c.relayOnly() // if the batch has failed, upstream skips the message and owes nothing for it
		return nil
	}
	if kind == wire.FrontendQuery {
		c.mayCopy = c.mayCopy || c.inTheWay() && (!whole || mentionsCopy(body))
		c.knownUnnamed, c.unnamed.parse = nil, c.unnamed.parse[:0]
		risky := !whole || statement.MayDeallocate(trimZero(body))
		c.push(entry{of: owesQuery, risky: risky, drops: unnamedStatement})
		return nil
	}
	own := entry{of: owesBatch, own: true}
	if before = c.putRight(&own, kind, body, whole); len(before) > 0 {
		before = append(before, syncMessage...)
		c.push(own)
	}
	c.push(entry{of: owesCall})
	return before
}

// forwardsPart notes a message of a batch that ends with its Sync.
func (c *conversation) forwardsPart(kind byte, body []byte, whole bool) (before []byte) {
	if !c.open {
		e := entry{of: owesBatch, open: true}
		if kind != wire.FrontendSync || len(body) > 0 { // a Sync uses nothing; one with contents fails a transaction
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

// forwardsBind notes whether the Bind makes the unnamed portal, and counts it if only Permission forbids an answer.
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

// takeUnpermitted returns how many statements were forwarded because of Permission alone since its last call.
func (c *conversation) takeUnpermitted() int {
	n := c.unpermitted
	c.unpermitted = 0
	return n
}

// state is what the session does, for operators. For a session that only relays, the last ReadyForQuery decides.
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

// forwardsParse forgets the statement that had this name. It remembers the new one if that is an answered form; the
// statement becomes live when the batch succeeds.
func (c *conversation) forwardsParse(e *entry, body []byte, whole bool) {
	name, text, f := c.readParse(body, whole)
	c.forget(name)
	c.risky = c.risky || statement.Deallocates(text, whole)
	if len(name) == 0 {
		e.makes |= unnamedStatement
	}
	if f == nil || len(e.learns) == maxNamed {
		return
	}
	if c.unlisted {
		f = neverAnswered
	}
	k := &known{form: f}
	if c.remember(name, k) {
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

// relayOnly stops matching replies to batches: from here on the session only relays. The caller holds the lock, or has
// not shared c yet.
func (c *conversation) relayOnly() {
	if c.relaying {
		return
	}
	c.relaying, c.open = true, false
	c.ledger.push(entry{of: owesAnything})
	c.owed.Add(1)
	c.room.Broadcast()
}

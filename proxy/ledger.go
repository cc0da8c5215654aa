package proxy

import (
	"sync"
	"sync/atomic"

	"pgflurry/proxy/statement"
)

// maxIdleEntries is how many entries a ledger keeps room for after a burst.
const maxIdleEntries = 1024

// reply is what upstream owes for one forwarded message.
type reply uint8

const (
	owesReady    reply = iota // startup: everything up to the first ReadyForQuery
	owesQuery                 // Query: everything up to ReadyForQuery
	owesFunction              // FunctionCall: the same
	owesSync                  // Sync: ReadyForQuery
	owesParse                 // ParseComplete
	owesBind                  // BindComplete
	owesDescribe              // RowDescription or NoData
	owesExecute               // CommandComplete, PortalSuspended or EmptyQueryResponse
	owesClose                 // CloseComplete
	copyEnd                   // CopyDone or CopyFail: nothing is owed, but a copy in progress ends there
)

// ready says that the reply ends with ReadyForQuery.
func (r reply) ready() bool { return r <= owesSync }

// entry is one line of the ledger.
type entry struct {
	reply   reply
	swallow bool      // the proxy sent the message itself: its success is not for the client
	unnamed bool      // Parse or Close of statement "", Bind, Execute or Close of portal ""
	portal  bool      // unnamed is about the portal
	copying bool      // CopyInResponse came for it
	failed  bool      // an error came for it
	unread  bool      // it failed before upstream did anything of it (stale.go)
	rebinds bool      // its replies so far tell that upstream's unnamed portal is another, or gone (stale.go)
	stmt    *prepared // Parse: becomes live; Describe: its parameter type will follow
	parse   *parsed   // Parse of statement "": what it will be
}

// endsStaleness says that the reply, once it comes, puts an unnamed object in step again (stale.go).
func (e *entry) endsStaleness() bool {
	return e.reply == owesQuery || (e.unnamed && e.reply != owesExecute)
}

// prepared is a named prepared statement whose text is an answered form. The client's side makes it, the server's side
// brings it to life; the client's side reads it only when upstream owes nothing.
type prepared struct {
	form      *statement.Form
	live      bool   // ParseComplete came
	epoch     uint64 // ledger.epoch when it came
	countType uint32 // type OID of the count if it is a parameter; 0 until a ParameterDescription was relayed
}

// parsed is an unnamed statement as the client believes it to be. form is nil where the text is no answered form.
type parsed struct {
	form  *statement.Form
	parse []byte // the whole Parse message, kept where upstream has not seen it
}

// ledger is what upstream owes, oldest first, and what its replies have settled. One mutex guards it, held for a few
// instructions at a time; owed may be read without.
type ledger struct {
	// open counts the entries whose replies are yet to be relayed, owed those among them that end with ReadyForQuery. Both
	// fall while the client's writer is held for the replies.
	open, owed atomic.Int32
	// awaited is what relayClient waits for open to fall to; -1 while it does not.
	awaited atomic.Int32
	// started: the first ReadyForQuery came, so the client is authenticated.
	started atomic.Bool
	// lost says that replies can no longer be told apart, so the session only relays from here on (copy.go).
	lost atomic.Bool

	mu       sync.Mutex
	entries  []entry // a queue: entries[first:]
	first    int
	skipping bool   // upstream ignores everything up to the next Sync
	status   byte   // of the last ReadyForQuery: I, T or E; 0 before the first
	epoch    uint64 // raised when remembered statements may be gone
	block    uint64 // raised when a transaction block, and its portals with it, may be over
	stale    staleness
	settled  sync.Cond // owed fell to 0, open to awaited, upstream began to copy in, the session ended, or lost was set
	ended    bool

	relayed tally // popped, and to be settled when the replies are written; server.go's alone
}

// tally counts entries, and those among them that end with ReadyForQuery.
type tally struct{ entries, readies int32 }

func (t *tally) add(e *entry) {
	t.entries++
	if e.reply.ready() {
		t.readies++
	}
}

func newLedger() *ledger {
	l := &ledger{}
	l.settled.L = &l.mu
	l.awaited.Store(-1)
	l.push(entry{reply: owesReady})
	return l
}

// push enters a message that is about to be forwarded.
func (l *ledger) push(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost.Load() {
		return
	}
	if l.skipping {
		if e.reply != owesSync {
			return
		}
		l.skipping = false
	}
	if e.reply == copyEnd && l.first == len(l.entries) {
		return // upstream ignores it
	}
	l.open.Add(1)
	if e.reply.ready() {
		l.owed.Add(1)
	}
	if e.endsStaleness() {
		l.stale.inFlight++
	}
	if l.first > len(l.entries)/2 && len(l.entries) == cap(l.entries) {
		l.entries = l.entries[:copy(l.entries, l.entries[l.first:])]
		l.first = 0
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

// pop takes the head off, and each CopyDone behind it: no copy was waiting for that, so PostgreSQL ignores it.
func (l *ledger) pop() {
	l.popOne()
	for l.first < len(l.entries) && l.entries[l.first].reply == copyEnd {
		l.popOne()
	}
}

func (l *ledger) popOne() {
	e := &l.entries[l.first]
	l.relayed.add(e)
	if e.endsStaleness() {
		l.stale.inFlight--
	}
	*e = entry{}
	l.first++
	if l.first == len(l.entries) {
		l.entries = l.entries[:0]
		l.first = 0
		if cap(l.entries) > maxIdleEntries {
			l.entries = nil
		}
	}
}

// skip drops what upstream will ignore after an error in an extended-query message: everything before the next Sync (a
// Query in between is ignored as well).
func (l *ledger) skip() {
	for l.first < len(l.entries) {
		if l.entries[l.first].reply == owesSync {
			return
		}
		l.popOne()
	}
	l.skipping = true
}

// settle counts as relayed what was popped since it was called last.
func (l *ledger) settle() {
	done := l.relayed
	l.relayed = tally{}
	owed, open := l.owed.Add(-done.readies), l.open.Add(-done.entries)
	if (done.readies > 0 && owed == 0) || open <= l.awaited.Load() {
		l.wake()
	}
}

func (l *ledger) wake() {
	l.mu.Lock()
	l.settled.Broadcast()
	l.mu.Unlock()
}

// end releases a waiter when the session is over.
func (l *ledger) end() {
	l.mu.Lock()
	l.ended = true
	l.settled.Broadcast()
	l.mu.Unlock()
}

// lose gives up telling replies apart. It reports false where the session cannot go on even so: when a reply to a message of
// the proxy's own is outstanding. What is stale stays so; a message that would need it mended ends the session (stale.go).
func (l *ledger) lose() bool {
	l.lost.Store(true)
	ok := true
	for i := l.first; i < len(l.entries); i++ {
		ok = ok && !l.entries[i].swallow
	}
	l.entries, l.first = nil, 0
	l.settled.Broadcast()
	return ok
}

// copyingIn says that upstream waits for the client's data: nothing else will come from it.
func (l *ledger) copyingIn() bool { return l.first < len(l.entries) && l.entries[l.first].copying }

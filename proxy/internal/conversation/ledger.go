package conversation

import (
	"encoding/binary"
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

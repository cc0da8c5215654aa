package proxy

import (
	"bytes"
	"encoding/binary"
	"sync"

	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

// batch is the part of a batch of extended-query messages that the proxy holds, because it may yet answer them:
//
//	([Parse ""] [Describe statement] Bind(portal "") [Describe portal ""] Execute(portal "") [Close portal ""])+ Sync
//
// The part in round brackets is a request: what a driver sends to run one statement.
type batch struct {
	size     int // bytes of the held messages
	requests []request
	parse    span            // where the last Parse is among the held bytes
	unnamed  *statement.Form // the form of that Parse; nil: no Parse is held
	formats  []uint16        // result formats of all requests
	tags     []byte          // tags of all requests
	// Room for most batches without an allocation.
	fewRequests [fewRequests]request
	fewFormats  [fewRequests]uint16
	fewTags     [4 * fewRequests]byte
}

// fewRequests is how many requests a batch has room for without an allocation.
const fewRequests = 64

// batches lends out batches, so that a session has one only while it holds something.
type batches struct{ pool sync.Pool }

func newBatches() *batches { return &batches{sync.Pool{New: func() any { return new(batch) }}} }

func (p *batches) get() *batch {
	b := p.pool.Get().(*batch)
	b.size, b.parse, b.unnamed = 0, span{}, nil
	b.requests, b.formats, b.tags = b.fewRequests[:0], b.fewFormats[:0], b.fewTags[:0]
	return b
}

func (p *batches) put(b *batch) {
	b.requests, b.formats, b.tags = nil, nil, nil
	p.pool.Put(b)
}

// span is the range from begin up to, and without, end.
type span struct{ begin, end int }

// request is one statement of a batch.
type request struct {
	form     *statement.Form
	stage    stage
	begin    int  // where its messages begin among the held bytes
	parsed   bool // Parse was read
	asked    bool // Describe of the statement was read
	shown    bool // Describe of the portal was read
	suspends bool // Execute's limit is the exact number of rows, so PostgreSQL stops without looking for another row
	closed   bool // Close was read
	rows     int
	times    int  // how often the same messages came
	formats  span // result formats in batch.formats: none, one, or one per column
	tag      span // the bound tag in batch.tags; empty unless the tag is a parameter
}

// stage is how far a request has been read.
type stage uint8

const (
	begun    stage = iota // after Parse, or Describe of the statement
	bound                 // after Bind, or Describe of the portal
	executed              // after Execute, or Close
)

// last is the request that is being read; nil before the first.
func (b *batch) last() *request {
	if len(b.requests) == 0 {
		return nil
	}
	return &b.requests[len(b.requests)-1]
}

// at is last if it is at that stage and not closed; else nil.
func (b *batch) at(s stage) *request {
	if u := b.last(); u != nil && u.stage == s && !u.closed {
		return u
	}
	return nil
}

// next begins a request. It returns nil if the one before has not been executed.
func (b *batch) next(f *statement.Form) *request {
	if u := b.last(); u != nil && u.stage != executed {
		return nil
	}
	b.requests = append(b.requests, request{form: f, begin: b.size, times: 1})
	return b.last()
}

// hearPart decides about one message of a batch of extended-query messages.
func (c *conversation) hearPart(kind byte, body []byte, size int) (d decision) {
	if !c.holds() {
		c.batch = c.batches.get()
	}
	switch kind {
	case wire.FrontendParse:
		d = c.hearParse(body, size)
	case wire.FrontendBind:
		d = c.hearBind(body)
	case wire.FrontendDescribe:
		d = c.hearDescribe(body)
	case wire.FrontendExecute:
		d = c.hearExecute(body)
	case wire.FrontendClose:
		d = c.hearClose(body)
	case wire.FrontendSync:
		d = c.hearSync(body)
	}
	switch {
	case d == hold:
		c.batch.size += size
	case c.batch.size == 0:
		c.release()
	}
	return d
}

// hearParse forwards the Parse of a named statement in any case. So DEALLOCATE, EXECUTE and duplicate names stay
// PostgreSQL's business.
func (c *conversation) hearParse(body []byte, size int) decision {
	name, _, f := c.readParse(body, true)
	if len(name) > 0 || f == nil || f.CountParam {
		return forward
	}
	if !c.allows(f) {
		c.barred = true
		return forward
	}
	b := c.batch
	u := b.next(f)
	if u == nil {
		return forward
	}
	u.parsed = true
	b.unnamed, b.parse = f, span{b.size, b.size + size}
	return hold
}

// statementOf finds the form of a statement at this point of the batch, and the type of its count.
func (c *conversation) statementOf(name []byte) (f *statement.Form, countType uint32) {
	if len(name) == 0 && c.batch.unnamed != nil {
		return c.batch.unnamed, 0
	}
	k := c.answerable(name)
	if k == nil {
		return nil, 0
	}
	if !c.allows(k.form) {
		c.barred = true
		return nil, 0
	}
	return k.form, k.countType
}

func (c *conversation) hearDescribe(body []byte) decision {
	what, name := cutTarget(body)
	if len(body) != 2+len(name) {
		return forward
	}
	switch {
	case what == wire.OfPortal && len(name) == 0:
		if u := c.batch.at(bound); u != nil && !u.shown {
			u.shown = true
			return hold
		}
	case what == wire.OfStatement:
		f, _ := c.statementOf(name)
		if f == nil || f.Params() > 0 { // PostgreSQL knows the types of parameters; the proxy does not
			return forward
		}
		u := c.batch.at(begun)
		if u == nil {
			u = c.batch.next(f)
		}
		if u == nil || u.asked || u.form != f {
			return forward
		}
		u.asked = true
		return hold
	}
	return forward
}

func (c *conversation) hearBind(body []byte) decision {
	portal, rest := cutName(body)
	name, rest := cutName(rest)
	if len(portal) > 0 {
		return forward
	}
	f, countType := c.statementOf(name)
	if f == nil {
		return forward
	}
	b := c.batch
	bind, ok := readBind(rest, f, countType, b.formats)
	if !ok {
		return forward
	}
	u := b.at(begun)
	if u == nil {
		u = b.next(f)
	}
	if u == nil || u.form != f {
		return forward
	}
	u.stage, u.rows = bound, bind.rows
	u.formats, b.formats = span{len(b.formats), len(bind.formats)}, bind.formats
	u.tag = span{len(b.tags), len(b.tags) + len(bind.tag)}
	b.tags = append(b.tags, bind.tag...)
	return hold
}

func (c *conversation) hearExecute(body []byte) decision {
	if len(body) != 5 || body[0] != 0 {
		return forward
	}
	u := c.batch.at(bound)
	if u == nil {
		return forward
	}
	limit := int32(binary.BigEndian.Uint32(body[1:]))
	if limit < 0 || limit > 0 && int(limit) < u.rows {
		return forward
	}
	u.stage, u.suspends = executed, int(limit) == u.rows
	return hold
}

// repeats finds requests in unread that repeat the last executed one byte for byte, as a pipeline does. Every decision
// about the first holds for them, so none is read again. It adds them to the batch and returns their size in bytes.
// held is what the proxy holds.
func (c *conversation) repeats(held, unread []byte) (size int) {
	u := c.batch.last()
	same := held[u.begin:]
	for bytes.HasPrefix(unread[size:], same) {
		size += len(same)
		u.times++
	}
	if u.parsed && size > 0 {
		c.batch.parse.begin += size
		c.batch.parse.end += size
	}
	c.batch.size += size
	return size
}

func (c *conversation) hearClose(body []byte) decision {
	if len(body) != 2 || body[0] != wire.OfPortal || body[1] != 0 {
		return forward
	}
	u := c.batch.at(executed)
	if u == nil || u.times > 1 {
		return forward
	}
	u.closed = true
	return hold
}

// hearSync forwards a Sync without requests: with it a client asks whether PostgreSQL is there.
func (c *conversation) hearSync(body []byte) decision {
	u := c.batch.last()
	if len(body) > 0 || u == nil || u.stage != executed || c.batch.ids() > maxBatchIDs {
		return forward
	}
	return answer
}

// statements is how many statements the batch has.
func (b *batch) statements() (n int) {
	for i := range b.requests {
		n += b.requests[i].times
	}
	return n
}

// ids is how many IDs, or numbers of tags, the batch asks for.
func (b *batch) ids() (n int) {
	for i := range b.requests {
		n += b.requests[i].ids() * b.requests[i].times
	}
	return n
}

// ids is how many IDs or numbers one execution of the request gives.
func (u *request) ids() int { return u.rows * len(u.form.Columns) }

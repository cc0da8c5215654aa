package conversation

import (
	"bytes"
	"encoding/binary"
	"sync"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// Batch is the part of a batch of extended-query messages that the proxy holds, because it may yet answer them:
//
//	([Parse ""] [Describe statement] Bind(portal "") [Describe portal ""] Execute(portal "") [Close portal ""])+ Sync
//
// The part in round brackets is a request: what a driver sends to run one statement.
type Batch struct {
	size int // bytes of the held messages
	// Requests are in the order of their messages.
	Requests []Request
	parse    span            // where the last Parse is among the held bytes
	unnamed  *statement.Form // the form of that Parse; nil: no Parse is held
	formats  []uint16        // result formats of all requests
	tags     []byte          // tags of all requests
	// Room for most batches without an allocation.
	fewRequests [fewRequests]Request
	fewFormats  [fewRequests]uint16
	fewTags     [4 * fewRequests]byte
}

// fewRequests is how many requests a batch has room for without an allocation.
const fewRequests = 64

// Batches lends out batches, so that a session has one only while it holds something.
type Batches struct{ pool sync.Pool }

// NewBatches makes an empty stock of batches.
func NewBatches() *Batches { return &Batches{sync.Pool{New: func() any { return new(Batch) }}} }

func (p *Batches) get() *Batch {
	b := p.pool.Get().(*Batch)
	b.size, b.parse, b.unnamed = 0, span{}, nil
	b.Requests, b.formats, b.tags = b.fewRequests[:0], b.fewFormats[:0], b.fewTags[:0]
	return b
}

func (p *Batches) put(b *Batch) {
	b.Requests, b.formats, b.tags = nil, nil, nil
	p.pool.Put(b)
}

// span is the range from begin up to, and without, end.
type span struct{ begin, end int }

// Request is one statement of a batch. Its messages are those between the Parse and the Close of one run.
type Request struct {
	Form     *statement.Form
	Parsed   bool // Parse was read
	Asked    bool // Describe of the statement was read
	Shown    bool // Describe of the portal was read
	Suspends bool // Execute's limit is the exact number of rows, so PostgreSQL stops without looking for another row
	Closed   bool // Close was read
	Rows     int
	Times    int // how often the same messages came

	stage   stage
	begin   int  // where its messages begin among the held bytes
	formats span // result formats in Batch.formats: none, one, or one per column
	tag     span // the bound tag in Batch.tags; empty unless the tag is a parameter
}

// stage is how far a request has been read.
type stage uint8

const (
	begun    stage = iota // after Parse, or Describe of the statement
	bound                 // after Bind, or Describe of the portal
	executed              // after Execute, or Close
)

// last is the request that is being read; nil before the first.
func (b *Batch) last() *Request {
	if len(b.Requests) == 0 {
		return nil
	}
	return &b.Requests[len(b.Requests)-1]
}

// at is last if it is at that stage and not closed; else nil.
func (b *Batch) at(s stage) *Request {
	if u := b.last(); u != nil && u.stage == s && !u.Closed {
		return u
	}
	return nil
}

// next begins a request. It returns nil if the one before has not been executed.
func (b *Batch) next(f *statement.Form) *Request {
	if u := b.last(); u != nil && u.stage != executed {
		return nil
	}
	b.Requests = append(b.Requests, Request{Form: f, begin: b.size, Times: 1})
	return b.last()
}

// hear decides about one message of the batch. known are the session's statements.
func (b *Batch) hear(kind byte, body []byte, size int, known *statements) Decision {
	switch kind {
	case wire.FrontendParse:
		return b.hearParse(body, size, known)
	case wire.FrontendBind:
		return b.hearBind(body, known)
	case wire.FrontendDescribe:
		return b.hearDescribe(body, known)
	case wire.FrontendExecute:
		return b.hearExecute(body)
	case wire.FrontendClose:
		return b.hearClose(body)
	case wire.FrontendSync:
		return b.hearSync(body)
	}
	return Forward
}

// hearParse forwards the Parse of a named statement in any case. So DEALLOCATE, EXECUTE and duplicate names stay
// PostgreSQL's business.
func (b *Batch) hearParse(body []byte, size int, known *statements) Decision {
	name, _, f := known.readParse(body, true)
	if len(name) > 0 || f == nil || f.CountParam {
		return Forward
	}
	if !known.allows(f) {
		known.barred = true
		return Forward
	}
	u := b.next(f)
	if u == nil {
		return Forward
	}
	u.Parsed = true
	b.unnamed, b.parse = f, span{b.size, b.size + size}
	return Hold
}

// statementOf finds the form of a statement at this point of the batch, and the type of its count.
func (b *Batch) statementOf(name []byte, known *statements) (f *statement.Form, countType uint32) {
	if len(name) == 0 && b.unnamed != nil {
		return b.unnamed, 0
	}
	k := known.answerable(name)
	if k == nil {
		return nil, 0
	}
	if !known.allows(k.form) {
		known.barred = true
		return nil, 0
	}
	return k.form, k.countType
}

func (b *Batch) hearDescribe(body []byte, known *statements) Decision {
	what, name := wire.CutTarget(body)
	if len(body) != 2+len(name) {
		return Forward
	}
	switch {
	case what == wire.OfPortal && len(name) == 0:
		if u := b.at(bound); u != nil && !u.Shown {
			u.Shown = true
			return Hold
		}
	case what == wire.OfStatement:
		f, _ := b.statementOf(name, known)
		if f == nil || f.Params() > 0 { // PostgreSQL knows the types of parameters; the proxy does not
			return Forward
		}
		u := b.at(begun)
		if u == nil {
			u = b.next(f)
		}
		if u == nil || u.Asked || u.Form != f {
			return Forward
		}
		u.Asked = true
		return Hold
	}
	return Forward
}

func (b *Batch) hearBind(body []byte, known *statements) Decision {
	portal, rest := wire.CutName(body)
	name, rest := wire.CutName(rest)
	if len(portal) > 0 {
		return Forward
	}
	f, countType := b.statementOf(name, known)
	if f == nil {
		return Forward
	}
	bind, ok := readBind(rest, f, countType, b.formats)
	if !ok {
		return Forward
	}
	u := b.at(begun)
	if u == nil {
		u = b.next(f)
	}
	if u == nil || u.Form != f {
		return Forward
	}
	u.stage, u.Rows = bound, bind.rows
	u.formats, b.formats = span{len(b.formats), len(bind.formats)}, bind.formats
	u.tag = span{len(b.tags), len(b.tags) + len(bind.tag)}
	b.tags = append(b.tags, bind.tag...)
	return Hold
}

func (b *Batch) hearExecute(body []byte) Decision {
	if len(body) != 5 || body[0] != 0 {
		return Forward
	}
	u := b.at(bound)
	if u == nil {
		return Forward
	}
	limit := int32(binary.BigEndian.Uint32(body[1:]))
	if limit < 0 || limit > 0 && int(limit) < u.Rows {
		return Forward
	}
	u.stage, u.Suspends = executed, int(limit) == u.Rows
	return Hold
}

// repeats finds requests in unread that repeat the last executed one byte for byte, as a pipeline does. Every decision
// about the first holds for them, so none is read again. It adds them to the batch and returns their size in bytes.
// held is what the proxy holds.
func (b *Batch) repeats(held, unread []byte) (size int) {
	u := b.last()
	same := held[u.begin:]
	for bytes.HasPrefix(unread[size:], same) {
		size += len(same)
		u.Times++
	}
	if u.Parsed && size > 0 {
		b.parse.begin += size
		b.parse.end += size
	}
	b.size += size
	return size
}

func (b *Batch) hearClose(body []byte) Decision {
	if len(body) != 2 || body[0] != wire.OfPortal || body[1] != 0 {
		return Forward
	}
	u := b.at(executed)
	if u == nil || u.Times > 1 {
		return Forward
	}
	u.Closed = true
	return Hold
}

// hearSync forwards a Sync without requests: with it a client asks whether PostgreSQL is there.
func (b *Batch) hearSync(body []byte) Decision {
	u := b.last()
	if len(body) > 0 || u == nil || u.stage != executed || b.ids() > maxBatchIDs {
		return Forward
	}
	return Answer
}

// Formats are the result formats of a request: none, one, or one per column.
func (b *Batch) Formats(u *Request) []uint16 { return b.formats[u.formats.begin:u.formats.end] }

// Tag is the bound tag of a request; empty unless the tag is a parameter.
func (b *Batch) Tag(u *Request) []byte { return b.tags[u.tag.begin:u.tag.end] }

// Statements is how many statements the batch has.
func (b *Batch) Statements() (n int) {
	for i := range b.Requests {
		n += b.Requests[i].Times
	}
	return n
}

// ids is how many IDs, or numbers of tags, the batch asks for.
func (b *Batch) ids() (n int) {
	for i := range b.Requests {
		n += b.Requests[i].IDs() * b.Requests[i].Times
	}
	return n
}

// IDs is how many IDs or numbers one execution of the request gives.
func (u *Request) IDs() int { return u.Rows * len(u.Form.Columns) }

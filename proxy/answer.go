package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"time"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/statement"
)

const (
	// patience is how long an answer may wait for its IDs before the statement is forwarded instead.
	patience = 50 * time.Millisecond
	// segmentPatience is the same for numbers of a tag, which may have to be fetched.
	segmentPatience = 200 * time.Millisecond
	// maxNamed is how many named statements of a session are remembered; the ones beyond it are forwarded.
	maxNamed = 1000
)

// run is part of an answer's IDs: first, first+1, … first+count-1.
type run struct {
	first int64
	count int
}

// quiescent: conditions 1, 3, 4 and 5 of doc.go. Only then may the ledger be read without its lock.
func (s *session) quiescent() bool {
	l := s.ledger
	if s.opening.replication || s.segment.forwarded || l.owed.Load() != 0 || l.lost.Load() {
		return false
	}
	return l.status == 'I' || l.status == 'T'
}

// mayAnswer: condition 2. What names a function without its schema needs more than what names it.
func (s *session) mayAnswer(f *statement.Form) bool {
	return s.permission.allows(f) && (f.Tag == nil || s.segments != nil)
}

// answerQuery answers a simple Query: RowDescription, one DataRow a row, CommandComplete, ReadyForQuery.
func (s *session) answerQuery(body []byte, size int) (bool, error) {
	if s.unit.form != nil || !s.quiescent() || len(body) == 0 || body[len(body)-1] != 0 {
		return false, nil
	}
	f := s.matchText(body[:len(body)-1])
	if f == nil || f.Params() > 0 || !s.mayAnswer(f) || !s.reserve(f.TagOr(nil), f.Rows*len(f.Columns)) {
		return false, nil
	}
	if err := s.gather(); err != nil {
		return false, err
	}
	s.out = appendRowDescription(s.out, f, nil)
	if err := s.rows(f, f.Rows, nil); err != nil {
		return false, err
	}
	s.out = appendComplete(s.out, f.Rows)
	s.out = appendReady(s.out, s.ledger.status)
	s.ledger.stale.localQuery()
	s.segment.parsed, s.segment.bound, s.segment.first = false, false, false
	s.finished.form = nil
	return s.answered(size)
}

// matchText matches, and remembers the last text: a client that wants IDs sends the same one again and again.
func (s *session) matchText(text []byte) *statement.Form {
	if s.lastForm != nil && string(s.lastText) == string(text) {
		return s.lastForm
	}
	f, ok := statement.Match(text)
	if !ok {
		return nil
	}
	s.lastText, s.lastForm = append(s.lastText[:0], text...), f
	return f
}

// answerExecute answers a whole unit: [ParseComplete] BindComplete [RowDescription], one DataRow a row, CommandComplete. If Execute
// asks for exactly as many rows as there are, it is PortalSuspended: PostgreSQL has not looked for another. Of a portal that was
// answered before it gives no row: one Bind draws its IDs once.
func (s *session) answerExecute(body []byte, size int) (bool, error) {
	if len(body) != 5 || body[0] != 0 {
		return false, nil
	}
	limit := int32(binary.BigEndian.Uint32(body[1:]))
	u, in := &s.unit, s.fromClient
	if !u.bound {
		return s.answerFinished('E', size)
	}
	if limit < 0 || (limit > 0 && int(limit) < u.rows) || !s.reserve(u.form.TagOr(u.tag), u.rows*len(u.form.Columns)) {
		return false, nil
	}
	if err := s.gather(); err != nil {
		return false, err
	}
	start := len(s.out)
	if u.parseSize > 0 {
		s.ledger.stale.localParse(u.form, in.Held()[:u.parseSize])
		s.out = append(s.out, '1', 0, 0, 0, 4)
	}
	s.out = append(s.out, '2', 0, 0, 0, 4)
	if u.described {
		s.out = appendRowDescription(s.out, u.form, u.formats)
	}
	value := len(s.out) - start + valueAt
	if err := s.rows(u.form, u.rows, u.formats); err != nil {
		return false, err
	}
	after := len(s.out) - start
	if int(limit) == u.rows {
		s.out = append(s.out, 's', 0, 0, 0, 4)
	} else {
		s.out = appendComplete(s.out, u.rows)
	}
	s.ledger.stale.portal = true
	s.segment = segment{local: true, first: s.ledger.status == 'I'}
	s.finished = finishedPortal{form: u.form, formats: append(s.finished.formats[:0], u.formats...), block: s.ledger.block, portals: s.ledger.stale.portals}
	same := u.rows == 1 && len(u.form.Columns) == 1 && u.form.Tag == nil && after > value // else rows has flushed
	u.reset()
	in.Hold(size)
	messages := in.Held()
	done, err := s.answered(0)
	if err == nil && same {
		s.answerRepeats(messages, s.out[start:], value, after)
	}
	return done, err
}

// valueAt is where the value begins, with its length, in a DataRow of one column.
const valueAt = frame.HeaderSize + 2

// answerRepeats answers the units behind the one that was just answered for as long as they are the same bytes, as in a pipeline:
// nothing was forwarded in between, so that all that was decided and noted for it holds for them. Each gets an ID of its own; those
// are drawn together, as many as there are at this moment. reply has one row of one column, at [value:after].
func (s *session) answerRepeats(messages, reply []byte, value, after int) {
	in, n, room := s.fromClient, 0, (frame.ReplyChunk-len(s.out))/len(reply)
	for n < room && bytes.HasPrefix(in.Unread()[n*len(messages):], messages) {
		n++
	}
	if n == 0 {
		return
	}
	first, n, err := s.proxy.ids.TryNextN(n)
	if err != nil {
		return // the next unit meets the same
	}
	text, format := s.finished.form.Columns[0].Text, formatOf(s.finished.formats, 0)
	for i := range n {
		begin := len(s.out)
		s.out = append(s.out, reply[:value]...)
		s.out = appendID(s.out, first+int64(i), text, format)
		s.out = append(s.out, reply[after:]...)
		if len(s.out)-begin != len(reply) { // one digit more: the lengths in front do not fit, and the rest of the run stays unused
			s.out, n = s.out[:begin], i
			break
		}
	}
	in.Drop(n * len(messages))
	s.answers.Add(int64(n))
	s.answeredIDs.Add(int64(n))
}

// answerClose answers Close of a portal that was answered before.
func (s *session) answerClose(body []byte, size int) (bool, error) {
	if !isUnnamedPortal(body) {
		return false, nil
	}
	return s.answerFinished('C', size)
}

// answerSync ends a segment of which everything was answered. A Sync on its own is forwarded: it asks whether PostgreSQL
// is there.
func (s *session) answerSync(body []byte, size int) (bool, error) {
	if s.unit.form != nil || len(body) != 0 || !s.segment.local || !s.quiescent() {
		return false, nil
	}
	if err := s.gather(); err != nil {
		return false, err
	}
	s.segment.local, s.segment.first = false, false
	if s.ledger.status == 'I' {
		s.finished.form = nil
	}
	s.out = appendReady(s.out, s.ledger.status)
	return s.answered(size)
}

// answerFlush: what was answered is sent at once anyway.
func (s *session) answerFlush(body []byte, size int) (bool, error) {
	if s.unit.form != nil || len(body) != 0 || !s.segment.local || !s.quiescent() {
		return false, nil
	}
	return s.answered(size)
}

// answered takes the answered messages out of the client's stream.
func (s *session) answered(size int) (bool, error) {
	in := s.fromClient
	if err := in.Flush(s.server); err != nil { // messages that are owed nothing, such as stray CopyData
		return false, err
	}
	in.Drop(size)
	return true, nil
}

// reserve takes n IDs, or numbers of a tag if it is not nil: all of them or, as far as the answer goes, none.
func (s *session) reserve(tag []byte, n int) bool {
	s.runs = s.runs[:0]
	for taken := 0; taken < n; {
		first, count, err := s.tryNextN(tag, n-taken)
		if err == nil && count == 0 {
			return s.reserveSlowly(tag, n-taken)
		}
		if err != nil {
			s.proxy.declined.Add(1)
			return false
		}
		s.runs = append(s.runs, run{first, count})
		taken += count
	}
	return true
}

func (s *session) tryNextN(tag []byte, n int) (first int64, count int, err error) {
	if tag != nil {
		return s.segments.TryNextN(tag, n)
	}
	return s.proxy.ids.TryNextN(n)
}

// reserveSlowly goes on where the present tick, or what is in memory of the tag, is used up.
func (s *session) reserveSlowly(tag []byte, n int) bool {
	wait := patience
	if tag != nil {
		wait = segmentPatience
	}
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	for n > 0 {
		first, count, err := s.nextN(ctx, tag, n)
		if err != nil {
			s.proxy.declined.Add(1)
			return false
		}
		s.runs = append(s.runs, run{first, count})
		n -= count
	}
	return true
}

func (s *session) nextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	if tag != nil {
		return s.segments.NextN(ctx, tag, n)
	}
	return s.proxy.ids.NextN(ctx, n)
}

// gather makes room for a reply, and writes those before it when they fill a chunk. A session has a buffer for them only from its
// first answer until they are written.
func (s *session) gather() error {
	if len(s.out) >= frame.ReplyChunk {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.out == nil {
		s.out = s.proxy.buffers.GetReplies()
	}
	return nil
}

// rows writes the reserved IDs, row by row.
func (s *session) rows(f *statement.Form, rows int, formats []uint16) error {
	next := 0
	for range rows {
		if err := s.gather(); err != nil {
			return err
		}
		s.out = append(s.out, 'D', 0, 0, 0, 0)
		at := len(s.out)
		s.out = binary.BigEndian.AppendUint16(s.out, uint16(len(f.Columns)))
		for i := range f.Columns {
			for s.runs[next].count == 0 {
				next++
			}
			s.out = appendID(s.out, s.runs[next].first, f.Columns[i].Text, formatOf(formats, i))
			s.runs[next].first++
			s.runs[next].count--
		}
		binary.BigEndian.PutUint32(s.out[at-4:], uint32(len(s.out)-at+4))
	}
	s.answers.Add(1)
	s.answeredIDs.Add(int64(rows * len(f.Columns)))
	return nil
}

// formatOf is the format code of column i: none given is text, one is for all.
func formatOf(formats []uint16, i int) uint16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	return formats[i]
}

// appendID writes one column. Type text is digits in both formats, bigint in binary is eight bytes.
func appendID(b []byte, id int64, text bool, format uint16) []byte {
	if format == 1 && !text {
		b = append(b, 0, 0, 0, 8)
		return binary.BigEndian.AppendUint64(b, uint64(id))
	}
	b = append(b, 0, 0, 0, 0)
	at := len(b)
	b = strconv.AppendInt(b, id, 10)
	binary.BigEndian.PutUint32(b[at-4:], uint32(len(b)-at))
	return b
}

// appendRowDescription: a column of a function has no table (0) and no column number (0); bigint is 8 bytes wide, text
// varies (-1), neither has a type modifier (-1).
func appendRowDescription(b []byte, f *statement.Form, formats []uint16) []byte {
	b = append(b, 'T', 0, 0, 0, 0)
	at := len(b)
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.Columns)))
	for i, c := range f.Columns {
		b = append(b, c.Name...)
		b = append(b, 0, 0, 0, 0, 0, 0, 0)
		oid, width := uint32(oidInt8), uint16(8)
		if c.Text {
			oid, width = oidText, 0xffff
		}
		b = binary.BigEndian.AppendUint32(b, oid)
		b = binary.BigEndian.AppendUint16(b, width)
		b = binary.BigEndian.AppendUint32(b, 0xffffffff)
		b = binary.BigEndian.AppendUint16(b, formatOf(formats, i))
	}
	binary.BigEndian.PutUint32(b[at-4:], uint32(len(b)-at+4))
	return b
}

func appendComplete(b []byte, rows int) []byte {
	b = append(b, 'C', 0, 0, 0, 0)
	at := len(b)
	b = append(b, "SELECT "...)
	b = strconv.AppendInt(b, int64(rows), 10)
	b = append(b, 0)
	binary.BigEndian.PutUint32(b[at-4:], uint32(len(b)-at+4))
	return b
}

func appendReady(b []byte, status byte) []byte {
	return append(b, 'Z', 0, 0, 0, 5, status)
}

package proxy

import (
	"context"
	"encoding/binary"
	"time"

	"pgflurry/proxy/conversation"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/statement"
	"pgflurry/proxy/wire"
)

const (
	// patience is how long an answer may wait for its first IDs (package draw). Then the proxy forwards the batch
	// instead.
	patience = 50 * time.Millisecond
	// segmentPatience is the same for numbers of a tag. It is longer because they may come from the database.
	segmentPatience = 200 * time.Millisecond
)

// answer answers the Query, or the batch that ends with this message. If the IDs cannot be had, it returns false and
// has done nothing.
func (s *session) answer(f frame.Frame) (done bool, err error) {
	in, c := s.fromClient, s.conversation
	s.waited = 0
	defer s.runs.Reset() // nobody gets what was drawn for a batch that is declined
	defer s.tagRuns.Reset()
	if f.Kind == wire.FrontendQuery {
		form := c.Query()
		n := form.Rows * len(form.Columns)
		if err := s.reserve(form.TagOr(nil), n); err != nil {
			s.decline(err, 1)
			return false, nil
		}
		if err := s.writeQuery(form); err != nil {
			return false, err
		}
		c.AnsweredQuery()
		s.count(form.Kind(), 1, n)
	} else {
		if err := s.reserveBatch(); err != nil {
			s.decline(err, c.Batch().Statements())
			return false, nil
		}
		var count batchCount
		for i := range c.Batch().Requests {
			u := &c.Batch().Requests[i]
			if err := s.writeRequests(u); err != nil {
				return false, err
			}
			count.add(u)
		}
		for k, n := range count.statements {
			if n > 0 {
				s.count(statement.FormKind(k), n, count.values[k])
			}
		}
		c.AnsweredBatch(in.Held())
	}
	s.out = wire.AppendReady(s.out, c.Status())
	// The buffer may still have messages that upstream owes nothing for, such as stray CopyData.
	if err := s.flushCommitted(); err != nil {
		return false, err
	}
	in.Drop(f.Size)
	return true, nil
}

// batchCount counts, by kind, the statements of a batch and the values they give. Most batches have one kind only.
type batchCount struct{ statements, values [statement.FormKinds]int }

func (x *batchCount) add(u *conversation.Request) {
	k := u.Form.Kind()
	x.statements[k] += u.Times
	x.values[k] += u.Times * u.IDs()
}

// count counts answered statements of one kind, and the IDs or numbers of tags in them.
func (s *session) count(k statement.FormKind, statements, values int) {
	if s.waited > 0 {
		s.slow += int64(statements)
		s.proxy.counters.answeredSlowly(k, statements, s.waited)
	} else {
		s.counts.answers[k].Add(int64(statements))
	}
	if k == statement.FormSegment {
		s.counts.numbers.Add(int64(values))
	} else {
		s.counts.ids.Add(int64(values))
	}
}

// writeQuery answers a Query: RowDescription, one DataRow a row, CommandComplete.
func (s *session) writeQuery(f *statement.Form) error {
	if err := s.gather(); err != nil {
		return err
	}
	s.out = wire.AppendRowDescription(s.out, f, nil)
	if err := s.writeRows(f, f.Rows, nil); err != nil {
		return err
	}
	s.out = wire.AppendComplete(s.out, f.Rows)
	return nil
}

// writeRequests answers a request as often as the client sent it: [ParseComplete] [ParameterDescription RowDescription]
// BindComplete [RowDescription], one DataRow a row, CommandComplete or PortalSuspended [CloseComplete].
func (s *session) writeRequests(u *conversation.Request) error {
	formats := s.conversation.Batch().Formats(u)
	for left := u.Times; left > 0; left-- {
		if err := s.gather(); err != nil {
			return err
		}
		from := len(s.out)
		value, after, err := s.writeRequest(u, formats)
		if err != nil {
			return err
		}
		// With after <= value a chunk was written in between.
		if left > 1 && after > value && u.IDs() == 1 && u.Form.Tag == nil {
			left -= s.writeAgain(u, formats, s.out[from:], value-from, after-from, left-1)
		}
	}
	return nil
}

// writeRequest answers a request once. If the answer is one row of one column, that value is at out[value:after],
// length included.
func (s *session) writeRequest(u *conversation.Request, formats []uint16) (value, after int, err error) {
	if u.Parsed {
		s.out = append(s.out, wire.ParseComplete...)
	}
	if u.Asked {
		s.out = append(s.out, wire.NoParameters...)
		s.out = wire.AppendRowDescription(s.out, u.Form, nil)
	}
	s.out = append(s.out, wire.BindComplete...)
	if u.Shown {
		s.out = wire.AppendRowDescription(s.out, u.Form, formats)
	}
	value = len(s.out) + frame.HeaderSize + 2
	if err := s.writeRows(u.Form, u.Rows, formats); err != nil {
		return 0, 0, err
	}
	after = len(s.out)
	if u.Suspends {
		s.out = append(s.out, wire.PortalSuspended...)
	} else {
		s.out = wire.AppendComplete(s.out, u.Rows)
	}
	if u.Closed {
		s.out = append(s.out, wire.CloseComplete...)
	}
	return value, after, nil
}

// writeAgain answers a request that gives one ID up to n more times. It copies reply, the first answer, and replaces
// reply[value:after] by the next ID. It returns how many it answered: as many as fit into the chunk and as are
// consecutive.
func (s *session) writeAgain(u *conversation.Request, formats []uint16, reply []byte, value, after, n int) int {
	n = min(n, (frame.ReplyChunk-len(s.out))/len(reply))
	if n <= 0 {
		return 0
	}
	first, n := s.runs.Consecutive(n)
	text, format := u.Form.Columns[0].Text, wire.FormatOf(formats, 0)
	for i := range n {
		before := len(s.out)
		s.out = append(s.out, reply[:value]...)
		s.out = wire.AppendID(s.out, first+int64(i), text, format)
		s.out = append(s.out, reply[after:]...)
		if len(s.out)-before != len(reply) { // the ID has one more digit, so the lengths in front of it are wrong
			s.out, n = s.out[:before], i
			break
		}
	}
	s.runs.Skip(n)
	return n
}

// writeRows writes rows of IDs, or of numbers of a tag. They must have been reserved.
func (s *session) writeRows(f *statement.Form, rows int, formats []uint16) error {
	from := &s.runs
	if f.Tag != nil {
		from = &s.tagRuns
	}
	for range rows {
		if err := s.gather(); err != nil {
			return err
		}
		var at int
		s.out, at = wire.Begin(s.out, wire.BackendDataRow)
		s.out = binary.BigEndian.AppendUint16(s.out, uint16(len(f.Columns)))
		for i := range f.Columns {
			s.out = wire.AppendID(s.out, from.Take(), f.Columns[i].Text, wire.FormatOf(formats, i))
		}
		s.out = wire.End(s.out, at)
	}
	return nil
}

// gather makes room for a reply. When the replies before it fill a chunk, it writes them first. A session has a buffer
// for replies only between its first answer and their writing.
func (s *session) gather() error {
	if len(s.out) >= frame.ReplyChunk {
		if err := s.flushAnswers(); err != nil {
			return err
		}
	}
	if s.out == nil {
		s.out = s.proxy.buffers.GetReplies()
	}
	return nil
}

// reserveBatch takes all that the batch asks for. Numbers of tags come first because they are more likely to be
// missing; then it takes all IDs at once.
func (s *session) reserveBatch() error {
	b := s.conversation.Batch()
	ids := 0
	for i := range b.Requests {
		u := &b.Requests[i]
		n := u.Times * u.IDs()
		if u.Form.Tag == nil {
			ids += n
		} else if err := s.reserve(u.Form.TagOr(b.Tag(u)), n); err != nil {
			return err
		}
	}
	if ids == 0 {
		return nil
	}
	return s.reserve(nil, ids)
}

// reserve takes n IDs, or n numbers of the tag if tag is not nil. The answer gets all of them or none. The error says
// why they cannot be had.
func (s *session) reserve(tag []byte, n int) error {
	if tag != nil {
		return s.reserveNumbers(tag, n)
	}
	waited, err := s.proxy.ids.Draw(s.ctx, patience, n, &s.runs)
	s.waited += waited
	return err
}

func (s *session) reserveNumbers(tag []byte, n int) error {
	for n > 0 {
		first, count, err := s.segments.TryNextN(tag, n)
		if err == nil && count == 0 {
			return s.reserveSlowly(tag, n)
		}
		if err != nil {
			return err
		}
		s.tagRuns.Add(first, count)
		n -= count
	}
	return nil
}

// reserveSlowly goes on when what is in memory of the tag is used up. Only this path measures how long an answer waits,
// so that the fast path reads no clock.
func (s *session) reserveSlowly(tag []byte, n int) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(s.ctx, segmentPatience)
	defer cancel()
	for n > 0 {
		first, count, err := s.segments.NextN(ctx, tag, n)
		if err != nil && ctx.Err() != nil {
			return errTagLate
		}
		if err != nil {
			return err
		}
		s.tagRuns.Add(first, count)
		n -= count
	}
	s.waited += time.Since(began)
	return nil
}

package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

const (
	// patience is how long an answer may wait for its first IDs (package draw). Then the proxy forwards the batch
	// instead.
	patience = 50 * time.Millisecond
	// segmentPatience is the same for numbers of a tag. It is longer because they may come from the database.
	segmentPatience = 200 * time.Millisecond
)

// Segments gives dense numbers of business tags from memory; segment.Source satisfies it. Both methods are called
// concurrently, and do not keep tag. n is at least 1. After any error the proxy forwards the call to PostgreSQL.
type Segments interface {
	// TryNextN takes a run of up to n numbers of a tag, first … first+count-1. A count of 0 without an error means that
	// there is none at this moment, but will be soon.
	TryNextN(tag []byte, n int) (first int64, count int, err error)
	// NextN does the same, but waits for at least one number.
	NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error)
}

// sources are what the answers of all sessions are made of.
type sources struct {
	ids      *draw.Queue
	patience time.Duration
	whyNot   func(error) Decline // nil: DeclineNoLease in each case
	buffers  *frame.Buffers
	counters *counters
}

// answers draws what the batches of one session ask for, and writes the replies. It belongs to the goroutine that reads
// the client.
type answers struct {
	*sources
	permission *statement.Permission // nil: the database is not listed
	segments   Segments              // nil: none
	ctx        context.Context       // ends with the session
	counts     *frontend.Counts
	frame.Replies

	waited        time.Duration // for what the present answer needs; 0: not at all
	slow          int64         // answers that waited
	runs, tagRuns draw.Runs     // IDs, and numbers of tags, drawn for the present answer
}

// may checks condition 2 of package conversation.
func (a *answers) may(f *statement.Form) bool {
	return a.permission.Allows(f) && (f.Tag == nil || a.segments != nil)
}

// answer answers the Query, or the batch, that c says can be answered. held are its messages without the Sync. If the
// IDs cannot be had, it returns false and has done nothing.
func (a *answers) answer(c *conversation.Conversation, isQuery bool, held []byte) (done bool, err error) {
	a.waited = 0
	defer a.runs.Reset() // nobody gets what was drawn for a batch that is declined
	defer a.tagRuns.Reset()
	if isQuery {
		done, err = a.answerQuery(c)
	} else {
		done, err = a.answerBatch(c, held)
	}
	if done {
		a.Out = wire.AppendReady(a.Out, c.Status())
	}
	return done, err
}

func (a *answers) answerQuery(c *conversation.Conversation) (done bool, err error) {
	form := c.Query()
	n := form.Rows * len(form.Columns)
	if err := a.reserve(form.TagOr(nil), n); err != nil {
		a.decline(err, 1)
		return false, nil
	}
	if err := a.writeQuery(form); err != nil {
		return false, err
	}
	c.AnsweredQuery()
	a.count(form.Kind(), 1, n)
	return true, nil
}

func (a *answers) answerBatch(c *conversation.Conversation, held []byte) (done bool, err error) {
	b := c.Batch()
	if err := a.reserveBatch(b); err != nil {
		a.decline(err, b.Statements())
		return false, nil
	}
	var count batchCount
	for i := range b.Requests {
		u := &b.Requests[i]
		if err := a.writeRequests(u, b.Formats(u)); err != nil {
			return false, err
		}
		count.add(u)
	}
	for k, n := range count.statements {
		if n > 0 {
			a.count(statement.FormKind(k), n, count.values[k])
		}
	}
	c.AnsweredBatch(held)
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
func (a *answers) count(k statement.FormKind, statements, values int) {
	if a.waited > 0 {
		a.slow += int64(statements)
		a.counters.answeredSlowly(k, statements, a.waited)
	} else {
		a.counts.Answers[k].Add(int64(statements))
	}
	a.counts.Drew(k, values)
}

// writeQuery answers a Query: RowDescription, one DataRow a row, CommandComplete.
func (a *answers) writeQuery(f *statement.Form) error {
	if err := a.Gather(); err != nil {
		return err
	}
	a.Out = wire.AppendRowDescription(a.Out, f, nil)
	if err := a.writeRows(f, f.Rows, nil); err != nil {
		return err
	}
	a.Out = wire.AppendComplete(a.Out, f.Rows)
	return nil
}

// writeRequests answers a request as often as the client sent it: [ParseComplete] [ParameterDescription RowDescription]
// BindComplete [RowDescription], one DataRow a row, CommandComplete or PortalSuspended [CloseComplete].
func (a *answers) writeRequests(u *conversation.Request, formats []uint16) error {
	for left := u.Times; left > 0; left-- {
		if err := a.Gather(); err != nil {
			return err
		}
		from := len(a.Out)
		value, after, err := a.writeRequest(u, formats)
		if err != nil {
			return err
		}
		// With after <= value a chunk was written in between.
		if left > 1 && after > value && u.IDs() == 1 && u.Form.Tag == nil {
			left -= a.writeAgain(u, formats, a.Out[from:], value-from, after-from, left-1)
		}
	}
	return nil
}

// writeRequest answers a request once. If the answer is one row of one column, that value is at out[value:after],
// length included.
func (a *answers) writeRequest(u *conversation.Request, formats []uint16) (value, after int, err error) {
	if u.Parsed {
		a.Out = append(a.Out, wire.ParseComplete...)
	}
	if u.Asked {
		a.Out = append(a.Out, wire.NoParameters...)
		a.Out = wire.AppendRowDescription(a.Out, u.Form, nil)
	}
	a.Out = append(a.Out, wire.BindComplete...)
	if u.Shown {
		a.Out = wire.AppendRowDescription(a.Out, u.Form, formats)
	}
	value = len(a.Out) + frame.HeaderSize + 2
	if err := a.writeRows(u.Form, u.Rows, formats); err != nil {
		return 0, 0, err
	}
	after = len(a.Out)
	if u.Suspends {
		a.Out = append(a.Out, wire.PortalSuspended...)
	} else {
		a.Out = wire.AppendComplete(a.Out, u.Rows)
	}
	if u.Closed {
		a.Out = append(a.Out, wire.CloseComplete...)
	}
	return value, after, nil
}

// writeAgain answers a request that gives one ID up to n more times. It copies reply, the first answer, and replaces
// reply[value:after] by the next ID. It returns how many it answered: as many as fit into the chunk and as are
// consecutive.
func (a *answers) writeAgain(u *conversation.Request, formats []uint16, reply []byte, value, after, n int) int {
	n = min(n, (frame.ReplyChunk-len(a.Out))/len(reply))
	if n <= 0 {
		return 0
	}
	first, n := a.runs.Consecutive(n)
	text, format := u.Form.Columns[0].Text, wire.FormatOf(formats, 0)
	for i := range n {
		before := len(a.Out)
		a.Out = append(a.Out, reply[:value]...)
		a.Out = wire.AppendID(a.Out, first+int64(i), text, format)
		a.Out = append(a.Out, reply[after:]...)
		if len(a.Out)-before != len(reply) { // the ID has one more digit, so the lengths in front of it are wrong
			a.Out, n = a.Out[:before], i
			break
		}
	}
	a.runs.Skip(n)
	return n
}

// writeRows writes rows of IDs, or of numbers of a tag. They must have been reserved.
func (a *answers) writeRows(f *statement.Form, rows int, formats []uint16) error {
	from := &a.runs
	if f.Tag != nil {
		from = &a.tagRuns
	}
	for range rows {
		if err := a.Gather(); err != nil {
			return err
		}
		var at int
		a.Out, at = wire.Begin(a.Out, wire.BackendDataRow)
		a.Out = binary.BigEndian.AppendUint16(a.Out, uint16(len(f.Columns)))
		for i := range f.Columns {
			a.Out = wire.AppendID(a.Out, from.Take(), f.Columns[i].Text, wire.FormatOf(formats, i))
		}
		a.Out = wire.End(a.Out, at)
	}
	return nil
}

// reserveBatch takes all that the batch asks for. Numbers of tags come first because they are more likely to be
// missing; then it takes all IDs at once.
func (a *answers) reserveBatch(b *conversation.Batch) error {
	ids := 0
	for i := range b.Requests {
		u := &b.Requests[i]
		n := u.Times * u.IDs()
		if u.Form.Tag == nil {
			ids += n
		} else if err := a.reserve(u.Form.TagOr(b.Tag(u)), n); err != nil {
			return err
		}
	}
	if ids == 0 {
		return nil
	}
	return a.reserve(nil, ids)
}

// reserve takes n IDs, or n numbers of the tag if tag is not nil. The answer gets all of them or none. The error says
// why they cannot be had.
func (a *answers) reserve(tag []byte, n int) error {
	if tag != nil {
		return a.reserveNumbers(tag, n)
	}
	waited, err := a.ids.Draw(a.ctx, a.patience, n, &a.runs)
	a.waited += waited
	return err
}

func (a *answers) reserveNumbers(tag []byte, n int) error {
	for n > 0 {
		first, count, err := a.segments.TryNextN(tag, n)
		if err == nil && count == 0 {
			return a.reserveSlowly(tag, n)
		}
		if err != nil {
			return err
		}
		a.tagRuns.Add(first, count)
		n -= count
	}
	return nil
}

// reserveSlowly goes on when what is in memory of the tag is used up. Only this path measures how long an answer waits,
// so that the fast path reads no clock.
func (a *answers) reserveSlowly(tag []byte, n int) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(a.ctx, segmentPatience)
	defer cancel()
	for n > 0 {
		first, count, err := a.segments.NextN(ctx, tag, n)
		if err != nil && ctx.Err() != nil {
			return errTagLate
		}
		if err != nil {
			return err
		}
		a.tagRuns.Add(first, count)
		n -= count
	}
	a.waited += time.Since(began)
	return nil
}

// decline is about statements for which nothing could be drawn.
func (s *sources) decline(err error, statements int) {
	why := DeclineNoLease
	switch {
	case errors.Is(err, draw.ErrLate):
		why = DeclineTickFull
	case err == errTagLate:
		why = DeclineTimeout
	case s.whyNot != nil:
		why = min(s.whyNot(err), declines-1)
	}
	s.declined(why, statements)
}

// declined counts statements that could be answered, and go to upstream.
func (s *sources) declined(why Decline, statements int) {
	s.counters.declined[why].Add(int64(statements))
}

package idserver

import (
	"context"
	"encoding/binary"
	"time"

	"pgflurry/proxy/wire"
)

const (
	// portion is how many IDs an answer draws at once. Clients that draw many IDs thus take turns with those that draw
	// one.
	portion = 256
	// patience is how long an answer waits for an ID. A full tick is usually over within a millisecond.
	patience = time.Second
)

// run is a run of drawn IDs or numbers that are not written yet: first, first+1, … first+count-1.
type run struct {
	first int64
	count int
}

// writeIDs writes n rows. It draws what they need, one portion at a time.
func (s *session) writeIDs(r *rows, n int, formats []uint16) error {
	var drawn run
	f := r.form
	width := len(f.Columns)
	for left := n * width; left > 0; left -= width {
		if err := s.gather(); err != nil {
			return err
		}
		b, at := wire.Begin(s.out, wire.BackendDataRow)
		b = binary.BigEndian.AppendUint16(b, uint16(width))
		for i := range f.Columns {
			if drawn.count == 0 {
				var err error
				if drawn, err = s.draw(r.tag, min(left-i, portion)); err != nil {
					return err
				}
				s.counts.drew(f, drawn.count)
			}
			b = wire.AppendID(b, drawn.first, f.Columns[i].Text, wire.FormatOf(formats, i))
			drawn.first++
			drawn.count--
		}
		s.out = wire.End(b, at)
		r.left--
	}
	return nil
}

// draw takes up to n IDs, or numbers of the tag if tag is not nil. It takes at least one.
func (s *session) draw(tag []byte, n int) (drawn run, err error) {
	if tag != nil || n == 1 || s.server.turns.free() {
		drawn.first, drawn.count, err = s.tryNextN(tag, n)
	}
	if err == nil && drawn.count == 0 {
		drawn, err = s.wait(tag, n)
	}
	if err != nil {
		return run{}, s.unavailable(err)
	}
	return drawn, nil
}

// wait takes the next IDs or numbers. For IDs it waits for its turn.
func (s *session) wait(tag []byte, n int) (drawn run, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	if tag != nil {
		drawn.first, drawn.count, err = s.server.settings.Segments.NextN(ctx, tag, n)
	} else if err = s.server.turns.take(ctx); err == nil {
		drawn.first, drawn.count, err = s.server.settings.IDs.NextN(ctx, n)
		s.server.turns.give()
	}
	return drawn, err
}

func (s *session) tryNextN(tag []byte, n int) (first int64, count int, err error) {
	switch {
	case tag == nil:
		return s.server.settings.IDs.TryNextN(n)
	case s.server.settings.Segments == nil:
		return 0, 0, errNoSegments
	}
	return s.server.settings.Segments.TryNextN(tag, n)
}

// unavailable turns an error of IDs or Segments, or the end of patience, into the client's error. It does not change an
// error that ends the session.
func (s *session) unavailable(err error) error {
	if _, own := err.(problem); own || s.ctx.Err() != nil {
		return err
	}
	reason := s.server.settings.Unavailable(err)
	return problem{reason.SQLState, reason.Message, reason.Hint}
}

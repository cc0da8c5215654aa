package idserver

import (
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"pgflurry/draw"
	"pgflurry/proxy/wire"
)

// patience is how long an answer waits for an ID. A full tick is usually over within a millisecond.
const patience = time.Second

// writeIDs writes n rows. It draws what they need, one portion at a time.
func (s *session) writeIDs(r *rows, n int, formats []uint16) error {
	drawn := 0
	f := r.form
	width := len(f.Columns)
	for left := n * width; left > 0; left -= width {
		if err := cmp.Or(s.checkCancel(), s.gather()); err != nil {
			return err
		}
		b, at := wire.Begin(s.out, wire.BackendDataRow)
		b = binary.BigEndian.AppendUint16(b, uint16(width))
		for i := range f.Columns {
			if drawn == 0 {
				var err error
				if drawn, err = s.draw(r.tag, min(left-i, draw.Portion)); err != nil {
					return err
				}
				s.counts.drew(f, drawn)
			}
			b = wire.AppendID(b, s.drawn.Take(), f.Columns[i].Text, wire.FormatOf(formats, i))
			drawn--
		}
		s.out = wire.End(b, at)
		r.left--
	}
	return nil
}

// draw takes n IDs, or up to n numbers of the tag if tag is not nil, in place of what was drawn before. It returns how
// many it took: at least one.
func (s *session) draw(tag []byte, n int) (drawn int, err error) {
	if tag == nil {
		drawn = n
		_, err = s.server.settings.IDs.Draw(s.ctx, patience, n, &s.drawn)
	} else {
		drawn, err = s.drawNumbers(tag, n)
	}
	if err != nil {
		return 0, s.unavailable(err)
	}
	return drawn, nil
}

func (s *session) drawNumbers(tag []byte, n int) (drawn int, err error) {
	of := s.server.settings.Segments
	if of == nil {
		return 0, errNoSegments
	}
	first, drawn, err := of.TryNextN(tag, n)
	if err == nil && drawn == 0 {
		ctx, cancel := context.WithTimeout(s.ctx, patience)
		defer cancel()
		first, drawn, err = of.NextN(ctx, tag, n)
	}
	s.drawn.Reset()
	s.drawn.Add(first, drawn)
	return drawn, err
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

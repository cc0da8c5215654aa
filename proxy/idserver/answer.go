package idserver

import (
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/state"
	"pgflurry/proxy/internal/wire"
)

// Segments gives dense numbers of business tags; segment.Source satisfies it. Both methods are called concurrently, and
// do not keep tag. n is at least 1.
type Segments interface {
	// TryNextN takes a run of up to n numbers of a tag, first … first+count-1. A count of 0 without an error means that
	// there is none at this moment, but will be soon.
	TryNextN(tag []byte, n int) (first int64, count int, err error)
	// NextN does the same, but waits for at least one number.
	NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error)
}

// source is where all sessions draw.
type source struct {
	ids         *draw.Queue
	segments    Segments // nil: there are no numbers of tags
	unavailable func(error) fault.Error
}

// patience is how long an answer waits for an ID. A full tick is usually over within a millisecond.
const patience = time.Second

// draws are those of one session.
type draws struct {
	*source
	ctx   context.Context // ends with the session
	drawn draw.Runs       // IDs or numbers not yet written
}

// draw takes n IDs, or up to n numbers of the tag if tag is not nil, in place of what was drawn before. It returns how
// many it took: at least one.
func (d *draws) draw(tag []byte, n int) (drawn int, err error) {
	if drawn = n; tag != nil {
		drawn, err = d.drawNumbers(tag, n)
	} else {
		_, err = d.ids.Draw(d.ctx, patience, n, &d.drawn)
	}
	if err != nil {
		return 0, d.forClient(err)
	}
	return drawn, nil
}

func (d *draws) drawNumbers(tag []byte, n int) (drawn int, err error) {
	if d.segments == nil {
		return 0, errNoSegments
	}
	first, drawn, err := d.segments.TryNextN(tag, n)
	if err == nil && drawn == 0 {
		ctx, cancel := context.WithTimeout(d.ctx, patience)
		defer cancel()
		first, drawn, err = d.segments.NextN(ctx, tag, n)
	}
	d.drawn.Reset()
	d.drawn.Add(first, drawn)
	return drawn, err
}

// forClient turns an error of IDs or Segments, or the end of patience, into the client's error. It does not change an
// error that ends the session.
func (d *draws) forClient(err error) error {
	if _, own := err.(fault.Error); own || d.ctx.Err() != nil {
		return err
	}
	return d.unavailable(err)
}

// writer writes the rows of portals.
type writer struct {
	replies
	draws
	seen
}

// rows writes up to most of a portal's rows, and returns how many.
func (w *writer) rows(of *state.Session, p *state.Portal, most int) (n int, err error) {
	n = min(most, p.Rows.Left)
	if p.Rows.Form != nil {
		err = w.ids(p, n)
		if n > 0 && err == nil && p.FirstAnswer() {
			w.counts.Answers[p.Rows.Form.Kind()].Add(1)
		}
		return n, err
	}
	for range n {
		if err := cmp.Or(w.checkCancel(), w.Gather()); err != nil {
			return 0, err
		}
		if w.Out, err = of.AppendRow(w.Out, p); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// ids writes n rows. It draws what they need, one portion at a time.
func (w *writer) ids(p *state.Portal, n int) error {
	drawn := 0
	f := p.Rows.Form
	width := len(f.Columns)
	for left := n * width; left > 0; left -= width {
		if err := cmp.Or(w.checkCancel(), w.Gather()); err != nil {
			return err
		}
		b, at := wire.Begin(w.Out, wire.BackendDataRow)
		b = binary.BigEndian.AppendUint16(b, uint16(width))
		for i := range f.Columns {
			if drawn == 0 {
				var err error
				if drawn, err = w.draw(p.Rows.Tag, min(left-i, draw.Portion)); err != nil {
					return err
				}
				w.counts.Drew(f.Kind(), drawn)
			}
			b = wire.AppendID(b, w.drawn.Take(), f.Columns[i].Text, wire.FormatOf(p.Formats, i))
			drawn--
		}
		w.Out = wire.End(b, at)
		p.Rows.Left--
	}
	return nil
}

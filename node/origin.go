package node

import (
	"context"

	"pgflurry/namespace"
	"pgflurry/proxy"
	"pgflurry/segment"
)

// isAt takes the place that a look has found; empty: the look makes no statement. If it is another place than before,
// sessions that have begun may still be at the old one. A pooler in session mode keeps them there. So no session that
// has begun is answered from memory any more. It does not matter to them what a later look finds.
func (x *database) isAt(place string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if place == "" || place == x.place {
		return
	}
	if x.place != "" {
		x.permission.part()
	}
	x.place = place
}

// sessionNumbers are the numbers of a database for one session.
type sessionNumbers struct {
	*database
	permission *proxy.Permission // from before the session went to its database
}

// TryNextN implements proxy.Segments.
func (s sessionNumbers) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	first, count, err = s.database.TryNextN(tag, n)
	return s.unlessMoved(first, count, err)
}

// NextN implements proxy.Segments.
func (s sessionNumbers) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	first, count, err = s.database.NextN(ctx, tag, n)
	return s.unlessMoved(first, count, err)
}

// unlessMoved skips numbers that may be from another database than the session's. It asks after the draw: numbers of
// another place come only after isAt.
func (s sessionNumbers) unlessMoved(first int64, count int, err error) (int64, int, error) {
	if err == nil && s.database.permission.sessions.Load() != s.permission {
		return 0, 0, segment.ErrElsewhere
	}
	return first, count, err
}

// tellOrigin says where the sessions are and where the numbers come from, as a look has found it. If the numbers in
// memory are from elsewhere, none of them is given any more when it returns. A standby makes no statement: what is in
// memory stays. before is the origin when the look was asked.
func (d *databaseWatch) tellOrigin(before *segment.Origin, j namespace.Judgement) {
	d.isAt(j.Place)
	switch {
	case j.Nothing != "":
		d.numbers.From(before, "")
	case j.SegmentOrigin != "":
		d.numbers.From(before, j.SegmentOrigin)
	}
}

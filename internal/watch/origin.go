package watch

import (
	"context"

	"pgflurry/internal/namespace"
	"pgflurry/internal/segment"
	"pgflurry/proxy/statement"
)

// isAt takes the place that a look has found; empty: the look makes no statement. If it is another place than before,
// sessions that have begun may still be at the old one. A pooler in session mode keeps them there. So no session that
// has begun is answered from memory any more. It does not matter to them what a later look finds.
func (x *Database) isAt(place string) {
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

// Numbers are the numbers of a database for one session.
type Numbers struct {
	database   *Database
	permission *statement.Permission // from before the session went to its database
}

// TryNextN gives numbers of a tag (segment.Source).
func (n *Numbers) TryNextN(tag []byte, most int) (first int64, count int, err error) {
	first, count, err = n.database.TryNextN(tag, most)
	return n.unlessMoved(first, count, err)
}

// NextN does the same, and waits.
func (n *Numbers) NextN(ctx context.Context, tag []byte, most int) (first int64, count int, err error) {
	first, count, err = n.database.NextN(ctx, tag, most)
	return n.unlessMoved(first, count, err)
}

// unlessMoved skips numbers that may be from another database than the session's. It asks after the draw: numbers of
// another place come only after isAt.
func (n *Numbers) unlessMoved(first int64, count int, err error) (int64, int, error) {
	if err == nil && n.database.permission.sessions.Load() != n.permission {
		return 0, 0, segment.ErrElsewhere
	}
	return first, count, err
}

// setOrigin records where the sessions are and where the numbers come from, as a look has found it. If the numbers in
// memory are from elsewhere, none of them is given any more when it returns. A standby makes no statement: what is in
// memory stays. before is the origin when the look was asked.
func (l *Listing) setOrigin(before *segment.Origin, j namespace.Decision) {
	l.isAt(j.Place)
	switch {
	case j.Nothing != "":
		l.numbers.From(before, "")
	case j.SegmentOrigin != "":
		l.numbers.From(before, j.SegmentOrigin)
	}
}

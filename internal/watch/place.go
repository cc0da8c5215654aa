package watch

import "time"

// placeRest is how long every look must agree after two looks have found two places.
const placeRest = time.Minute

// places judges what the looks at one address say: whether all of them are at one database (namespace.Place). A switch
// behind the address looks like a pooler that leads to two databases by turns, until looks have agreed for a while.
// Until then nothing is answered from memory: a session may be at either of them.
//
// The zero value has seen none. A place is only compared with the one before, never across addresses.
type places struct {
	last    string        // of the last look that made a statement; empty: none yet
	changed time.Duration // when a look found another place than the one before
	unsure  bool          // looks do not agree yet
}

// seen takes the place that a look has found at a monotonic time. Empty: the look makes no statement, as on a standby.
// moved: it is another place than that of the look before. agreed: looks agree, and answers may be given.
func (p *places) seen(place string, now time.Duration) (moved, agreed bool) {
	if moved = place != "" && p.last != "" && place != p.last; moved {
		p.changed, p.unsure = now, true
	}
	if place != "" {
		p.last = place
	}
	p.unsure = p.unsure && now-p.changed < placeRest
	return moved, !p.unsure
}

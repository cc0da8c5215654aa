package node

import (
	"fmt"
	"time"

	"pgflurry/namespace"
)

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

// compare ends the answers of a judgement while looks do not agree which database this is. The lease may be at another
// one as well: its keeper looks now.
func (d *databaseWatch) compare(j *namespace.Judgement) {
	moved, agreed := d.places.seen(j.Place, d.clock.monotonic())
	if moved {
		d.log.Error("another database answers at this address than before: it was switched, moved, restored or closed",
			"database", d.name, "place", j.Place,
			"hint", "Calls go to PostgreSQL until all looks agree for a minute. If it was no switch of yours, look at "+
				"the pooler or balancer between.")
		d.rules.Suspicion.Raise()
	}
	if !agreed {
		why := fmt.Sprintf("looks have found two databases at this address in the last %v", placeRest)
		for _, answers := range []*namespace.Answers{&j.IDs, &j.Segments, &j.Others} {
			if len(answers.Names) > 0 {
				*answers = namespace.Answers{Why: why}
			}
		}
		d.asker.Close() // a connection always agrees with itself: the next look asks over another one
	}
}

package recorder

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Sources is a Recorder that roughly remembers which client got which IDs. For each second, client and worker it keeps
// the smallest and the greatest ID. So it can name possible owners of an ID that comes twice. Safe for concurrent use.
// Make it with NewSources.
type Sources struct {
	*Recorder

	mu    sync.Mutex
	open  map[lane]*span // spans that may still grow
	spans []*span
}

// lane is the IDs of one client and one worker of the default layout. In another layout these are other bits of the ID,
// which only makes spans shorter.
type lane struct {
	client string
	worker int64
}

type span struct {
	lane
	least, most int64
	from, to    time.Time
}

// length is the time after which a span ends and another begins.
const length = time.Second

// NewSources is New, with sources.
func NewSources(dir string, memory int64) *Sources {
	return &Sources{Recorder: New(dir, memory), open: map[lane]*span{}}
}

// AddFrom records IDs that a client has just got. It records all of them, and returns an error for each one that came
// twice.
func (s *Sources) AddFrom(client string, at time.Time, ids ...int64) (twice []error) {
	for _, id := range ids {
		err := s.Add(id)
		if again := (*Twice)(nil); errors.As(err, &again) {
			err = fmt.Errorf("%w, now to %s at %s; before, it was among the IDs of %s",
				err, client, at.Format(clock), s.before(id))
		}
		if err != nil {
			twice = append(twice, err)
		}
		s.extend(client, at, id)
	}
	return twice
}

const clock = "15:04:05.000"

func (s *Sources) extend(client string, at time.Time, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := lane{client, id >> pageBits & 1023}
	o := s.open[of]
	if o == nil || at.Sub(o.from) > length {
		o = &span{lane: of, least: id, most: id, from: at}
		s.open[of] = o
		s.spans = append(s.spans, o)
	}
	o.least, o.most, o.to = min(o.least, id), max(o.most, id), at
}

// before names the clients that may have had an ID.
func (s *Sources) before(id int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, o := range s.spans {
		if o.worker == id>>pageBits&1023 && o.least <= id && id <= o.most {
			found = append(found, fmt.Sprintf("%s from %s to %s", o.client, o.from.Format(clock), o.to.Format(clock)))
		}
	}
	if len(found) == 0 {
		return "nobody that was named"
	}
	return strings.Join(found, ", or ")
}

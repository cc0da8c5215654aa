package meter

import (
	"slices"
	"sync"
	"time"
)

// Calm is the kind under which everything is counted that happens while no fault lasts.
const Calm = "between faults"

// awhile is how long ago a success may be of a place that is not away: it has its turns.
const awhile = time.Second

// Meter counts for the fault that lasts. Safe for concurrent use. Make it with New.
type Meter struct {
	reference string

	mu     sync.Mutex
	series []*series
	kinds  []*kind // in the order of their first fault; the first is Calm
	fault  *fault  // nil between faults
}

// series are the successes of a service at one place.
type series struct {
	group, service, place string

	last     time.Time // the last success
	from, to time.Time // the longest time without one in this fault
}

// kind is what the faults of one kind have cost.
type kind struct {
	name   string
	faults int
	away   map[string][]time.Duration // by service, one a fault: at the place where it was worst
	open   map[string]int             // by service: how often it was not back in the end
	given  map[string]int64           // by source: IDs during the reference's outages
	lost   int
	twice  int
	seen   map[sight]int
}

// sight is something that a client saw.
type sight struct{ client, says string }

type fault struct {
	*kind
	begun time.Time
	gifts []gift
	told  map[string]bool // clients whose first error was counted
}

type gift struct {
	source       string
	began, ended time.Time
	ids          int
}

// New makes a meter. Reference is the service whose outages are the time "during" which IDs are counted.
func New(reference string) *Meter {
	m := &Meter{reference: reference}
	m.kind(Calm)
	return m
}

// Place is where a service succeeds or not.
type Place struct {
	m *Meter
	s *series
}

// Watch adds a place of a service, such as one of several proxies. Services of a group are one table.
func (m *Meter) Watch(group, service, place string) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &series{group: group, service: service, place: place}
	m.series = append(m.series, s)
	return Place{m, s}
}

// Success tells that the service gave what it should.
func (p Place) Success(at time.Time) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.s.success(at)
}

func (s *series) success(at time.Time) {
	if !at.After(s.last) {
		return // several clients may succeed at one place, and tell it out of order
	}
	if !s.last.IsZero() && at.Sub(s.last) > s.to.Sub(s.from) {
		s.from, s.to = s.last, at
	}
	s.last = at
}

// Silent names the places without a success since then.
func (m *Meter) Silent(since time.Time) (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.series {
		if s.last.Before(since) {
			names = append(names, s.service+" "+s.place)
		}
	}
	return names
}

// Mark begins a fault.
func (m *Meter) Mark(name string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = &fault{kind: m.kind(name), begun: at, told: map[string]bool{}}
	for _, s := range m.series {
		s.from, s.to = time.Time{}, time.Time{}
	}
}

func (m *Meter) kind(name string) *kind {
	if at := slices.IndexFunc(m.kinds, func(k *kind) bool { return k.name == name }); at >= 0 {
		return m.kinds[at]
	}
	k := &kind{
		name: name, away: map[string][]time.Duration{}, open: map[string]int{}, given: map[string]int64{},
		seen: map[sight]int{},
	}
	m.kinds = append(m.kinds, k)
	return k
}

// now is the kind that is counted for.
func (m *Meter) now() *kind {
	if m.fault != nil {
		return m.fault.kind
	}
	return m.kinds[0]
}

// Given tells that a source gave IDs to a statement.
func (m *Meter) Given(source string, began, ended time.Time, ids int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil && ids > 0 {
		m.fault.gifts = append(m.fault.gifts, gift{source, began, ended, ids})
	}
}

// Saw tells what a client saw. The first sight of each client in a fault counts, by the client's kind. Between faults
// each counts.
func (m *Meter) Saw(clientKind, client, says string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil {
		if m.fault.told[client] {
			return
		}
		m.fault.told[client] = true
	}
	m.now().seen[sight{clientKind, says}]++
}

// Twice tells of an ID that came twice.
func (m *Meter) Twice() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now().twice++
}

// Lost tells of acknowledged commits that are gone.
func (m *Meter) Lost(commits int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now().lost += commits
}

// An Outage is how long a place of a service was away.
type Outage struct {
	Group, Service, Place string
	From, To              time.Time
	Back                  bool // it has succeeded again
}

// Settled ends the fault and returns what it cost, place by place. Without a fault there is nothing to end.
func (m *Meter) Settled(at time.Time) (outages []Outage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == nil {
		return nil
	}
	worst := map[string]time.Duration{} // by service
	for _, s := range m.series {
		from, to, back := s.from, s.to, true
		since := s.last
		if since.IsZero() {
			since = m.fault.begun // it never was there
		}
		if running := at.Sub(since); running > to.Sub(from) {
			from, to, back = since, at, running < awhile
		}
		worst[s.service] = max(worst[s.service], to.Sub(from))
		if !back {
			m.fault.open[s.service]++
		}
		outages = append(outages, Outage{s.group, s.service, s.place, from, to, back})
		if s.service == m.reference {
			for _, g := range m.fault.gifts {
				if g.began.After(from) && g.ended.Before(to) {
					m.fault.given[g.source] += int64(g.ids)
				}
			}
		}
	}
	for service, away := range worst {
		m.fault.away[service] = append(m.fault.away[service], away)
	}
	m.fault.faults++
	m.fault = nil
	return outages
}

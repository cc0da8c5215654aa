package meter

import (
	"slices"
	"sync"
	"time"
)

// Calm is the kind for everything that happens while no fault lasts.
const Calm = "between faults"

// awhile limits the age of the last success of a place that is not away.
const awhile = time.Second

// Meter counts for the present fault. Safe for concurrent use. Make it with New.
type Meter struct {
	reference string

	mu     sync.Mutex
	series []*series
	kinds  []*kind // by their first fault; Calm comes first
	fault  *fault  // nil between faults
}

// series has the successes of a service at one place.
type series struct {
	group, service, place string

	last     time.Time // the last success
	from, to time.Time // the longest time without a success in this fault
}

// kind is the cost of all faults of one kind.
type kind struct {
	name   string
	faults int
	away   map[string][]time.Duration // by service, one for each fault: at its worst place
	open   map[string]int             // by service: how often it was still away at the end
	given  map[string]int64           // by source: IDs during the reference's outages
	lost   int
	twice  int
	seen   map[sight]int
}

// sight is an error that clients of a kind saw.
type sight struct{ client, says string }

type fault struct {
	*kind
	begun time.Time
	gifts []gift
	told  map[string]bool // clients that have had their first error
}

type gift struct {
	source       string
	began, ended time.Time
	ids          int
}

// New makes a meter. It counts IDs during the outages of the service that reference names.
func New(reference string) *Meter {
	m := &Meter{reference: reference}
	m.kind(Calm)
	return m
}

// Place is a place at which a service succeeds or fails.
type Place struct {
	m *Meter
	s *series
}

// Watch adds a place of a service, such as one of several proxies. The services of a group share a table.
func (m *Meter) Watch(group, service, place string) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &series{group: group, service: service, place: place}
	m.series = append(m.series, s)
	return Place{m, s}
}

// Success records that the service worked.
func (p Place) Success(at time.Time) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.s.success(at)
}

func (s *series) success(at time.Time) {
	if !at.After(s.last) {
		return // a later success came first: clients share places, and report out of order
	}
	if !s.last.IsZero() && at.Sub(s.last) > s.to.Sub(s.from) {
		s.from, s.to = s.last, at
	}
	s.last = at
}

// Silent returns the places without a success since a moment.
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

// now is the kind that counts at present.
func (m *Meter) now() *kind {
	if m.fault != nil {
		return m.fault.kind
	}
	return m.kinds[0]
}

// Given records that a source gave IDs to a statement.
func (m *Meter) Given(source string, began, ended time.Time, ids int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil && ids > 0 {
		m.fault.gifts = append(m.fault.gifts, gift{source, began, ended, ids})
	}
}

// Saw records an error that a client saw. In a fault only the first error of each client counts, under the client's
// kind. Between faults each error counts.
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

// Twice records an ID that came twice.
func (m *Meter) Twice() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now().twice++
}

// Lost records acknowledged commits that are gone.
func (m *Meter) Lost(commits int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now().lost += commits
}

// An Outage is the time for which a place of a service was away.
type Outage struct {
	Group, Service, Place string
	From, To              time.Time
	Back                  bool // it works again
}

// Settled ends the fault and returns its cost, place by place. Without a fault it does nothing.
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
			since = m.fault.begun // it never worked
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

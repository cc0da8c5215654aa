package admin

import (
	"sync"
	"time"

	"pgflurry/internal/report"
)

const (
	sampleEvery = 2 * time.Second
	// sampled is how many samples are kept: ten minutes, and the one before them.
	sampled = int(10*time.Minute/sampleEvery) + 1
)

// A reading is the source of the charts at one moment. Everything except the sessions counts since the process began.
// All include the ID database, where a call without IDs gets an error.
type reading struct {
	at                     time.Time
	ids, answers, declined int64
	sessions               int
}

// samples are the last ten minutes, in a ring of fixed size. They are safe for concurrent use.
type samples struct {
	mu   sync.Mutex
	ring [sampled]reading
	next int // where the next one goes
	held int
}

// add adds a state to the samples.
func (s *samples) add(state report.State) {
	one := reading{at: state.At, ids: state.Answers.IDs + state.IDDatabase.IDs, sessions: open(state)}
	one.answers = report.Total(state.Answers.ByKind) + report.Total(state.IDDatabase.ByKind)
	one.declined = report.Total(state.Answers.Declined) + state.IDDatabase.Refused["no_ids"]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring[s.next] = one
	s.next = (s.next + 1) % sampled
	s.held = min(s.held+1, sampled)
}

// series are the lines of the charts, the oldest point first. Each sample after the first gives one point.
type series struct{ ids, answers, declined, sessions []float64 }

// series computes rates per second from the counters.
func (s *samples) series() series {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines series
	for i := 1; i < s.held; i++ {
		now := s.ring[(s.next-s.held+i+sampled)%sampled]
		before := s.ring[(s.next-s.held+i-1+sampled)%sampled]
		seconds := now.at.Sub(before.at).Seconds()
		if seconds <= 0 { // the wall clock was set back, so the length is unknown
			seconds = sampleEvery.Seconds()
		}
		lines.ids = append(lines.ids, float64(now.ids-before.ids)/seconds)
		lines.answers = append(lines.answers, float64(now.answers-before.answers)/seconds)
		lines.declined = append(lines.declined, float64(now.declined-before.declined)/seconds)
		lines.sessions = append(lines.sessions, float64(now.sessions))
	}
	return lines
}

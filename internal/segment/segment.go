package segment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/logs"
)

// Settings of a Source.
type Settings struct {
	// Open makes a Store for each goroutine that needs one. The goroutine closes it. Open is called a few times.
	// Required.
	Open func() Store
	// Suspicion is raised when another database answers than before, so that others look. Nil: nobody looks.
	Suspicion *connect.Suspicion
	// Now is a monotonic clock, from any origin; the process's own if nil.
	Now func() time.Duration
	// MaxTags limits the tags in use at once; 10,000 if zero.
	MaxTags int
	// Log is for operators; discarded if nil.
	Log *slog.Logger
}

const (
	defaultMaxTags = 10_000
	// fetchLimit is the longest time of a fetch. Half of it is for a lock on the row.
	fetchLimit = 2 * time.Second
	// refreshEvery is the time between two checks of the tags in use.
	refreshEvery = time.Minute
	// refreshLimit is the longest time of such a check, and refreshAtOnce the most tags in it.
	refreshLimit  = 5 * time.Second
	refreshAtOnce = 1000
	// idleLimit is how long an idle connection is kept.
	idleLimit = time.Minute
	// fetchers is how many fetch for tags that had a block before. Even if two rows are blocked, one fetcher is free.
	// One more fetches for new tags.
	fetchers = 3
)

// Source gives the numbers of the tags of one table. Its methods are safe for concurrent use.
type Source struct {
	open      func() Store
	suspicion *connect.Suspicion
	now       func() time.Duration
	maxTags   int
	log       *slog.Logger

	origin atomic.Pointer[Origin] // of all numbers in memory; changes while mu is locked

	known, fresh chan *buffer  // buffers that wait for a fetch: tags that had a block before, and others
	drawn        chan struct{} // closed by the first of them
	draw         sync.Once

	mu      sync.RWMutex
	buffers map[string]*buffer
	full    logs.Reminder // of tags beyond maxTags
	ended   atomic.Bool
}

// buffer is the supply of one tag, with the channel on which callers wait.
type buffer struct {
	mu     sync.Mutex
	supply supply
	gone   bool // it was replaced: look the tag up again
	// changed is closed and replaced when a fetch is over; nil if nobody waits.
	changed chan struct{}
	failing logs.Reminder // of its fetches
}

// New checks the settings. The Source gives numbers once Run runs and From has said where they come from.
func New(s Settings) (*Source, error) {
	if s.Open == nil {
		return nil, errors.New("a source of segments needs a store")
	}
	if s.MaxTags < 0 {
		return nil, fmt.Errorf("%d tags may be in use; expected 0 for %d, or more", s.MaxTags, defaultMaxTags)
	}
	if s.MaxTags == 0 {
		s.MaxTags = defaultMaxTags
	}
	if s.Now == nil {
		start := time.Now()
		s.Now = func() time.Duration { return time.Since(start) }
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Suspicion == nil {
		s.Suspicion = new(connect.Suspicion)
	}
	source := &Source{
		open: s.Open, suspicion: s.Suspicion, now: s.Now, maxTags: s.MaxTags, log: s.Log,
		known: make(chan *buffer, s.MaxTags), fresh: make(chan *buffer, s.MaxTags),
		drawn: make(chan struct{}), buffers: make(map[string]*buffer), full: logs.Reminder{Every: logs.RemindEvery},
	}
	source.origin.Store(new(Origin))
	return source, nil
}

// TryNextN takes up to n numbers of a tag: first … first+count-1, with n at least 1. A count of 0 without an error
// means that there is none at this moment, but soon. It does not keep the slice tag. Errors: ErrUnknownTag,
// ErrExhausted, ErrResting, ErrTooManyTags, ErrElsewhere, ErrEnded.
func (s *Source) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	first, count, _, err = s.numbers(tag, n, false)
	return first, count, err
}

// NextN does the same, but waits for at least one number until ctx ends.
func (s *Source) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	for {
		first, count, changed, err := s.numbers(tag, n, true)
		if err != nil || count > 0 {
			return first, count, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, 0, fmt.Errorf("waiting for numbers of tag %q: %w", tag, context.Cause(ctx))
		}
	}
}

// buffer finds or makes the buffer of a tag.
func (s *Source) buffer(tag []byte) (*buffer, error) {
	s.mu.RLock()
	b := s.buffers[string(tag)]
	s.mu.RUnlock()
	if b != nil {
		return b, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch b := s.buffers[string(tag)]; {
	case b != nil:
		return b, nil
	case s.ended.Load():
		return nil, ErrEnded
	case len(s.buffers) >= s.maxTags:
		if due, _ := s.full.Wrong("full", s.now()); due {
			s.log.Warn("too many tags are in use: calls for further ones go to PostgreSQL", "limit", s.maxTags)
		}
		return nil, ErrTooManyTags
	}
	b = &buffer{supply: supply{tag: string(tag)}, failing: logs.Reminder{Every: logs.RemindEvery}}
	s.buffers[b.supply.tag] = b
	return b, nil
}

// numbers gives those in memory, and begins the next fetch if it is due. If there are none and wait is true, it
// returns a channel that is closed when a fetch is over.
func (s *Source) numbers(tag []byte, n int, wait bool) (first int64, count int, changed <-chan struct{}, err error) {
	b, err := s.locked(tag)
	if err != nil {
		return 0, 0, nil, err
	}
	defer b.mu.Unlock()
	at := s.now()
	first, count = b.supply.take(n, at)
	if b.supply.due(at) {
		s.enqueue(b)
	}
	switch {
	case count > 0:
		return first, count, nil, nil
	case !b.supply.fetching:
		return 0, 0, nil, restingError(b.supply.why)
	case wait:
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		return 0, 0, b.changed, nil
	}
	return 0, 0, nil, nil
}

// locked finds or makes the buffer of a tag, and locks it.
func (s *Source) locked(tag []byte) (*buffer, error) {
	for {
		b, err := s.buffer(tag)
		if err != nil {
			return nil, err
		}
		b.mu.Lock()
		switch {
		case s.ended.Load():
			b.mu.Unlock()
			return nil, ErrEnded
		case s.Origin().text == "":
			b.mu.Unlock()
			return nil, ErrElsewhere
		case !b.gone:
			return b, nil
		}
		b.mu.Unlock()
	}
}

func restingError(why error) error {
	if why == nil {
		return ErrResting
	}
	if errors.Is(why, ErrUnknownTag) || errors.Is(why, ErrExhausted) {
		return why
	}
	return fmt.Errorf("%w: %w", ErrResting, why)
}

// enqueue asks for a fetch. The buffer is locked. Each buffer is in a queue at most once, so the queues never overflow.
func (s *Source) enqueue(b *buffer) {
	queue := s.known
	if b.supply.mark == 0 {
		queue = s.fresh
	}
	select {
	case queue <- b:
		b.supply.fetching = true
		s.draw.Do(func() { close(s.drawn) })
	default:
	}
}

// wake lets waiting callers look again. The buffer is locked.
func (b *buffer) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

package segment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pgflurry/reminder"
)

// Settings of a Source.
type Settings struct {
	// Open gives a Store to each goroutine that needs one, which closes it. It is called a few times. Required.
	Open func() Store
	// Now is a monotonic clock, from any origin; the process's own if nil.
	Now func() time.Duration
	// MaxTags is how many tags may be in use at once; 10,000 if zero.
	MaxTags int
	// Log gets what people need to know; discarded if nil.
	Log *slog.Logger
}

const (
	defaultMaxTags = 10_000
	// fetchLimit bounds one fetch; half of it is for a lock on the row.
	fetchLimit = 2 * time.Second
	// refreshEvery is how often the tags in use are looked at.
	refreshEvery = time.Minute
	// refreshLimit bounds one such look, and refreshAtOnce is for how many tags it is.
	refreshLimit  = 5 * time.Second
	refreshAtOnce = 1000
	// idleLimit is how long a connection is kept that nothing needs.
	idleLimit = time.Minute
	// fetchers fetch for tags that have been used before, so that two blocked rows leave room;
	// one more is for new ones.
	fetchers = 3
)

// Source gives the numbers of the tags of one table. Its methods are safe for concurrent use.
type Source struct {
	open    func() Store
	now     func() time.Duration
	maxTags int
	log     *slog.Logger

	known, fresh chan *buffer // buffers that wait for a fetch: of tags that had a block before, and of others

	mu      sync.RWMutex
	buffers map[string]*buffer
	full    reminder.Reminder // that there are too many
	ended   atomic.Bool
}

// buffer is the supply of one tag with what callers wait on.
type buffer struct {
	mu     sync.Mutex
	supply supply
	gone   bool // another one has its place: look again
	// changed is closed and replaced when a fetch is over, or nil if nobody waits.
	changed chan struct{}
	failing reminder.Reminder // of its fetches
}

// New checks the settings. Numbers are given once Run runs.
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
	return &Source{
		open: s.Open, now: s.Now, maxTags: s.MaxTags, log: s.Log,
		known: make(chan *buffer, s.MaxTags), fresh: make(chan *buffer, s.MaxTags),
		buffers: make(map[string]*buffer), full: reminder.Reminder{Every: reminder.Usual},
	}, nil
}

// TryNextN takes up to n numbers of a tag, first … first+count-1, n at least 1. A count of 0 without an error means:
// none at this very moment, soon again. tag is not kept. Errors: ErrUnknownTag, ErrExhausted, ErrResting,
// ErrTooManyTags, ErrEnded.
func (s *Source) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	first, count, _, err = s.take(tag, n, false)
	return first, count, err
}

// NextN does the same and waits for at least one, until ctx ends.
func (s *Source) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	for {
		first, count, changed, err := s.take(tag, n, true)
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

// buffer finds the one of a tag, or makes it.
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
	b = &buffer{supply: supply{tag: string(tag)}, failing: reminder.Reminder{Every: reminder.Usual}}
	s.buffers[b.supply.tag] = b
	return b, nil
}

// take gives what there is, and begins the next fetch where one is due. Who wants to wait gets a channel that is closed
// when there is something new.
func (s *Source) take(tag []byte, n int, wait bool) (first int64, count int, changed <-chan struct{}, err error) {
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

// locked finds the buffer of a tag, or makes it, and locks it.
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

// enqueue asks for a fetch, with the buffer locked. The queues hold each buffer once, so there is room for all.
func (s *Source) enqueue(b *buffer) {
	queue := s.known
	if b.supply.mark == 0 {
		queue = s.fresh
	}
	select {
	case queue <- b:
		b.supply.fetching = true
	default:
	}
}

// wake lets the callers look again, with the buffer locked.
func (b *buffer) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

package client

import (
	"fmt"
	"time"
)

// MaxDraw is the most IDs that one draw asks for, because one answer cannot hold more.
const MaxDraw = 10_000

// Settings are those of a Pool. The zero value has the defaults.
type Settings struct {
	// MaxBatch limits the batch, in IDs: 1 to 10,000, by default 1,000. Calls that want more get more.
	MaxBatch int
	// MaxAge is the greatest age of a draw whose IDs are still given: 1 ms to 1 h, by default 1 s.
	MaxAge time.Duration
	// Timeout limits a draw together with its second attempt: at least 1 ms, by default 5 s. It does not limit a call.
	Timeout time.Duration
}

const (
	defaultMaxBatch = 1_000
	defaultMaxAge   = time.Second
	defaultTimeout  = 5 * time.Second
)

// filled returns the settings with defaults for zeros, and checks the ranges.
func (s Settings) filled() (Settings, error) {
	if s.MaxBatch == 0 {
		s.MaxBatch = defaultMaxBatch
	}
	if s.MaxAge == 0 {
		s.MaxAge = defaultMaxAge
	}
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	switch {
	case s.MaxBatch < 1 || s.MaxBatch > MaxDraw:
		return s, fmt.Errorf("Settings.MaxBatch is %d; expected 1 to %d, or 0 for %d",
			s.MaxBatch, MaxDraw, defaultMaxBatch)
	case s.MaxAge < time.Millisecond || s.MaxAge > time.Hour:
		return s, fmt.Errorf("Settings.MaxAge is %v; expected 1ms to 1h, or 0 for %v", s.MaxAge, defaultMaxAge)
	case s.Timeout < time.Millisecond:
		return s, fmt.Errorf("Settings.Timeout is %v; expected at least 1ms, or 0 for %v", s.Timeout, defaultTimeout)
	}
	return s, nil
}

package namespace

import "time"

// The limits of a window: how far ahead a proxy may reserve, and the most that a namespace may permit.
const (
	ShortestWindow = time.Second
	// LongestWindow limits the rest of a vanished worker to two days. Its mark and its IDs then lie within the same
	// days.
	LongestWindow = 24 * time.Hour
)

package namespace

import "time"

// What a window may be: how far ahead a proxy reserves, and the most that a namespace permits.
const (
	ShortestWindow = time.Second
	// LongestWindow keeps a vanished worker's rest at two days, and its mark within the same days as its IDs.
	LongestWindow = 24 * time.Hour
)

//go:build !race

// Package race says whether the race detector is on, for tests of what it changes: memory, speed, and pools that forget
// at random.
package race

// Enabled: this test program was built with the race detector.
const Enabled = false

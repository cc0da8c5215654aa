//go:build !race

// Package race says whether the race detector is on. Some tests need to know what it changes: memory, speed, and pools
// that forget at random.
package race

// Enabled says that this test program was built with the race detector.
const Enabled = false

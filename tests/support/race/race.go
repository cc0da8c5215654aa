//go:build race

package race

// Enabled: this test program was built with the race detector.
const Enabled = true

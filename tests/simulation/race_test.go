//go:build race

package simulation

// The race detector makes them several times slower, and has little to see: one goroutine runs at a time.
const histories = 200

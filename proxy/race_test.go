//go:build race

package proxy

// raced: the race detector makes pools forget at random.
const raced = true

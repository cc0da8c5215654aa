//go:build race

package strangers

// raced: the race detector multiplies memory.
const raced = true

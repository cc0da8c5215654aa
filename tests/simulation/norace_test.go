//go:build !race

package simulation

// histories is how many each proof leads by seed; rapid leads a fifth as many.
const histories = 1000

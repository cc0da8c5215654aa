package state

import (
	"bytes"
	"fmt"

	"pgflurry/internal/fault"
)

// MaxKept limits what a client can make its session keep, in bytes: names and texts, and the overhead of each.
const MaxKept = 512 << 10

// Kept counts the bytes that a client makes its session keep.
type Kept struct{ bytes int }

// Bytes is how many are kept.
func (k *Kept) Bytes() int { return k.bytes }

// Add counts bytes that the session keeps from now on. It refuses them if there is no room.
func (k *Kept) Add(bytes int) error {
	if k.bytes+bytes > MaxKept {
		return fault.New(
			"54000", fmt.Sprintf("this session keeps %d bytes, and %d more are too many", k.bytes, bytes),
			fmt.Sprintf("Statements, cursors, settings and savepoints have %d bytes together: "+
				"close, deallocate or reset some.", MaxKept),
		)
	}
	k.bytes += bytes
	return nil
}

// Free counts bytes that the session keeps no longer.
func (k *Kept) Free(bytes int) { k.bytes -= bytes }

// costOfValue is the overhead of a command.Value beside its text, in bytes.
const costOfValue = 32

// CostOf is what a name takes, with its overhead. It also holds for other things of that size.
func CostOf[T string | []byte](name T) int { return 96 + len(name) }

// costOfStatement is what a prepared statement takes: the meaning of its text, and the types of its parameters. In a
// list of short values, such as SELECT 1,1,1, each takes much more memory than text.
func costOfStatement(text []byte, types []uint32) int {
	return 256 + 10*len(text) + 128*bytes.Count(text, []byte{','}) + 4*len(types)
}

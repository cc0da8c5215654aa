package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// HeaderSize is the type byte and the length of a frame, in bytes.
	HeaderSize = 5
	// MaxBody is the largest body in bytes, PostgreSQL's own limit (MaxAllocSize).
	MaxBody = 1<<30 - 1
)

// Frame is a message as it stands at an inbox's reading position, as far as it has come. The zero value: not even its
// header has.
type Frame struct {
	// Kind is the type byte.
	Kind byte
	// Body is what there is of the body in the buffer, all of it where Whole. It is valid until the inbox reads again.
	Body []byte
	// Size is that of the whole frame, its header included, in bytes.
	Size int
	// Whole: all of it is in the buffer.
	Whole bool
	// Large: it is not whole, and no narrow buffer could hold it, so it has to be streamed.
	Large bool
}

// LengthError is a length that no frame can have, or none that was expected.
// The stream cannot be followed from there on.
type LengthError struct {
	// Kind is the frame's type byte.
	Kind byte
	// Length is what the frame claims: its body and the four bytes of the length itself.
	Length uint32
	// Limit is the largest body that was expected, in bytes.
	Limit int
}

func (e LengthError) Error() string {
	return fmt.Sprintf("message %q claims a length of %d bytes; expected 4 to %d", e.Kind, e.Length, e.Limit+4)
}

// ErrLarge is for what Each calls to return: the frame at the reading position is Large, and the caller of Each is to
// stream it.
var ErrLarge = errors.New("frame is larger than the buffer")

// look reads the frame that b begins with. max bounds its body, in bytes.
func look(b []byte, max int) (Frame, error) {
	if len(b) < HeaderSize {
		return Frame{}, nil
	}
	length := binary.BigEndian.Uint32(b[1:])
	if length < 4 || length-4 > uint32(max) {
		return Frame{Kind: b[0]}, LengthError{b[0], length, max}
	}
	size := int(length) + 1
	if len(b) >= size {
		return Frame{Kind: b[0], Body: b[HeaderSize:size], Size: size, Whole: true}, nil
	}
	return Frame{Kind: b[0], Body: b[HeaderSize:], Size: size, Large: size > BufferSize}, nil
}

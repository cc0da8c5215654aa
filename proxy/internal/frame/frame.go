package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// HeaderSize is the size of a frame's type byte and length, in bytes.
	HeaderSize = 5
	// MaxBody is the largest body in bytes. PostgreSQL has the same limit (MaxAllocSize).
	MaxBody = 1<<30 - 1
)

// Frame is the message at an inbox's reading position, as far as it has come. The zero value means that not even the
// header has come.
type Frame struct {
	// Kind is the type byte.
	Kind byte
	// Body is the part of the body that is in the buffer. It is the whole body if Whole is set. It is valid until the
	// inbox reads again.
	Body []byte
	// Size is the size of the whole frame in bytes, with its header.
	Size int
	// Whole means that all of the frame is in the buffer.
	Whole bool
	// Large means that the frame is not whole, and that no narrow buffer could hold it. It has to be streamed.
	Large bool
}

// LengthError is a length that no frame can have, or that the reader did not expect. The stream cannot be followed any
// further.
type LengthError struct {
	// Kind is the frame's type byte.
	Kind byte
	// Length is the length that the frame claims: its body and the four bytes of the length itself.
	Length uint32
	// Limit is the largest body that was expected, in bytes.
	Limit int
}

func (e LengthError) Error() string {
	return fmt.Sprintf("message %q claims a length of %d bytes; expected 4 to %d", e.Kind, e.Length, e.Limit+4)
}

// ErrLarge is what the callback of Each returns if the frame at the reading position is Large. The caller of Each then
// streams it.
var ErrLarge = errors.New("frame is larger than the buffer")

// look reads the frame at the beginning of b. max limits its body, in bytes.
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

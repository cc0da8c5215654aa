package idserver

import (
	"strconv"

	"pgflurry/fault"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// replies are the messages for a client that are not yet written. A session has a buffer for them only between the
// first one and their writing.
type replies struct {
	out      []byte // nil: none
	buffers  *frame.Buffers
	toClient *frame.Writer
}

// gather makes room for a reply. When the replies before it fill a chunk, it writes them first.
func (r *replies) gather() error {
	if len(r.out) >= frame.ReplyChunk {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if r.out == nil {
		r.out = r.buffers.GetReplies()
	}
	return nil
}

// flush writes the replies.
func (r *replies) flush() error {
	defer r.drop()
	if len(r.out) == 0 {
		return nil
	}
	return r.toClient.Write(r.out)
}

// drop gives the buffer back.
func (r *replies) drop() {
	if r.out != nil {
		r.buffers.PutReplies(r.out)
		r.out = nil
	}
}

// add appends a message that is always the same.
func (r *replies) add(message []byte) { r.out = append(r.out, message...) }

// fail appends an ERROR.
func (r *replies) fail(p fault.Error) { r.out = wire.AppendError(r.out, "ERROR", p) }

// warn appends a warning if there is one.
func (r *replies) warn(p fault.Error) {
	if p != (fault.Error{}) {
		r.out = wire.AppendNotice(r.out, "WARNING", p)
	}
}

// complete appends the CommandComplete of a statement: with n rows, if its tag has a number.
func (r *replies) complete(tag string, n int) {
	b, at := wire.Begin(r.out, wire.BackendCommandComplete)
	b = append(b, tag...)
	if tag == "SELECT" || tag == "FETCH" || tag == "MOVE" {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	r.out = wire.End(append(b, 0), at)
}

// appendParameter writes a ParameterStatus.
func appendParameter(b []byte, name, value string) []byte {
	b, at := wire.Begin(b, wire.BackendParameterStatus)
	b = append(append(b, name...), 0)
	b = append(append(b, value...), 0)
	return wire.End(b, at)
}

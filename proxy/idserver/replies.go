package idserver

import (
	"strconv"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
)

// replies are the messages for a client that are not yet written.
type replies struct{ frame.Replies }

// add appends a message that is always the same.
func (r *replies) add(message []byte) { r.Out = append(r.Out, message...) }

// fail appends an ERROR.
func (r *replies) fail(p fault.Error) { r.Out = wire.AppendError(r.Out, "ERROR", p) }

// warn appends a warning if there is one.
func (r *replies) warn(p fault.Error) {
	if p != (fault.Error{}) {
		r.Out = wire.AppendNotice(r.Out, "WARNING", p)
	}
}

// complete appends the CommandComplete of a statement: with n rows, if its tag has a number.
func (r *replies) complete(tag string, n int) {
	b, at := wire.Begin(r.Out, wire.BackendCommandComplete)
	b = append(b, tag...)
	if tag == "SELECT" || tag == "FETCH" {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	r.Out = wire.End(append(b, 0), at)
}

// appendParameter writes a ParameterStatus.
func appendParameter(b []byte, name, value string) []byte {
	b, at := wire.Begin(b, wire.BackendParameterStatus)
	b = append(append(b, name...), 0)
	b = append(append(b, value...), 0)
	return wire.End(b, at)
}
